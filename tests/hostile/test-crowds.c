/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Users who open connections faster than anybody can judge, serve or close them. The daemon's
 * descriptors stay within the bound that uncored-security(7) names, for each account.
 *
 * Arguments: the limit of the daemon's open files; `seconds=N`: how long each attack is measured,
 * at least; `before-6.16`: setsockopt(2) knows no SO_PASSRIGHTS; `emulated`: the CPUs are emulated,
 * and all takes some 20 times as long; `only-daemon`: the calls of the victim are not judged.
 */
#include "tests/hostile/attack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/wire.h"

enum { USERS = 10, HELD = 8, DEEDS = 1000, FIRST_USER = 1572864 };

/*
 * Descriptors of one account beyond those of a daemon at rest and of the connections that it may
 * have: uncored-security(7) has the bound.
 */
enum { OF_ACCOUNT = 256 };

/* The daemon keeps doorbells and wake-ups of all the users here, who may come back, and a little.
 */
enum { KEPT = 3 * (2 * USERS + 1) + 4 };

static unsigned seconds;
static bool only_daemon;

static unsigned below(unsigned n)
{
	return (unsigned)random() % n;
}

/* Many processes come as root and become others. */
static void besiege(
	const char *name, int (*body)(void *), unsigned n_processes, unsigned n_accounts)
{
	attack_beside_victim(&(struct attack){
		.name = name,
		.body = body,
		.n_processes = n_processes,
		.begins_as_root = n_processes == USERS,
		.deeds = DEEDS,
		.memfds = n_accounts * OF_ACCOUNT,
		.descriptors = n_accounts * OF_ACCOUNT + n_processes * HELD,
		.kept = KEPT,
		.seconds = seconds,
		.only_daemon = only_daemon,
	});
}

/* --- random messages --- */

static size_t make_request(union wire_message *ret)
{
	static const uint16_t opcodes[] = { WIRE_HELLO, WIRE_HELLO, WIRE_INFO, WIRE_OWNER,
		WIRE_RENEW, WIRE_TEAM };

	wire_begin(ret, opcodes[below(sizeof opcodes / sizeof *opcodes)]);
	if (ret->header.opcode == WIRE_HELLO)
		ret->hello.version = WIRE_VERSION;
	return ret->header.size;
}

/* Half of the messages are requests; a bit of some is wrong. The others are noise. */
static void send_random(int fd)
{
	char bytes[2 * WIRE_MESSAGE_MAX] __attribute__((aligned(8))) = "";
	size_t size;

	if (below(2)) {
		size = make_request((void *)bytes);
	} else {
		size = below(sizeof bytes);
		for (size_t i = 0; i < size; i++)
			bytes[i] = (char)random();
	}
	if (size && below(10) == 0)
		bytes[below((unsigned)size)] ^= (char)(1 << below(8));
	if (send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		attack_did(1);
}

static void take_answer(int fd)
{
	struct wire_packet packet;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (wire_receive(fd, WIRE_FROM_DAEMON, &packet) == 1)
		wire_packet_done(&packet);
	fcntl(fd, F_SETFL, 0);
}

/* Does something to a connection; returns it, or -1 if it is closed. */
static int torment(int fd)
{
	switch (below(10)) {
	case 0:
		close(fd);
		return -1;
	case 1:
		shutdown(fd, (int)below(3));
		break;
	case 2:
	case 3:
		take_answer(fd);
		break;
	default:
		for (unsigned n = 1 + below(6); n; n--)
			send_random(fd);
	}
	return fd;
}

static _Noreturn void send_random_messages(void)
{
	int fds[HELD];

	srandom((unsigned)getpid());
	for (unsigned i = 0; i < HELD; i++)
		fds[i] = -1;
	for (;;) {
		unsigned i = below(HELD);

		fds[i] = fds[i] < 0 ? attack_connect() : torment(fds[i]);
	}
}

static _Noreturn int send_as_one(void *argument)
{
	(void)argument;
	attack_is_on();
	send_random_messages();
}

CASE("random messages of one user")
{
	besiege("random messages of one user", send_as_one, 2, 1);
}

static _Noreturn int send_as_others(void *argument)
{
	(void)argument;
	attack_become(FIRST_USER + attack_is_on());
	send_random_messages();
}

CASE("random messages of ten users")
{
	besiege("random messages of ten users", send_as_others, USERS, USERS);
}

static _Noreturn int send_as_subordinates(void *argument)
{
	(void)argument;
	attack_become(FIRST_SUBORDINATE + attack_is_on());
	send_random_messages();
}

CASE("random messages of ten subordinate ids of one user")
{
	besiege("random messages of ten subordinate ids of one user", send_as_subordinates, USERS,
		1);
}

/* --- requests whose answers nobody reads --- */

static _Noreturn int ask_and_leave(void *argument)
{
	union wire_message info;

	(void)argument;
	wire_begin(&info, WIRE_INFO);
	attack_is_on();
	for (;;) {
		int fd = attack_connect();

		wire_send(fd, &info, NULL, 0);
		close(fd);
		attack_did(1);
	}
}

CASE("connecting, asking and leaving before the answer")
{
	besiege("connecting, asking and leaving", ask_and_leave, 2, 1);
}

/* --- as many messages as a socket holds, in connections that are refused --- */

static _Noreturn int stuff_connections(void *argument)
{
	int fds[HELD];

	(void)argument;
	for (unsigned i = 0; i < HELD; i++)
		fds[i] = -1;
	attack_is_on();
	for (unsigned i = 0;; i = (i + 1) % HELD) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = attack_connect();
		while (send(fds[i], "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
			attack_did(1);
	}
}

CASE("connections full of messages")
{
	besiege("connections full of messages", stuff_connections, 2, 1);
}

/* The budget is in elapsed time, so it is larger where the same takes longer. */
static bool give_emulated_budget(void)
{
	attack_configure("[reader]\nbudget_percent = 100\nburst_ms = 4000\n");
	return true;
}

/* False: an argument cannot be followed. */
static bool follow(const char *argument)
{
	if (strcmp(argument, "only-daemon") == 0)
		return only_daemon = true;
	if (strcmp(argument, "emulated") == 0)
		return give_emulated_budget();
	if (strcmp(argument, "before-6.16") == 0)
		return attack_before_6_16();
	return sscanf(argument, "seconds=%u", &seconds) == 1;
}

int main(int argc, char *argv[])
{
	struct rlimit limit;

	the_daemon.descriptor_limit = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_max < the_daemon.descriptor_limit) {
		puts("1..0 # SKIP the limit of open files is lower");
		return 0;
	}
	for (int i = 2; i < argc; i++) {
		if (!follow(argv[i])) {
			printf("1..0 # SKIP cannot do as %s says\n", argv[i]);
			return 0;
		}
	}
	return attack_run();
}
