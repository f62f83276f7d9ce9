/* SPDX-License-Identifier: BSD-3-Clause */
/* Very many epoll watchers of one file. Waking the file walks all of them, and so does its last
 * close. */
#include "tests/hostile/attack.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/wire.h"

enum { OWN_EPOLLS = 667, FIRST_EPOLLS = 2000 };
enum { ROUND_EPOLLS = 200, REQUESTS_PER_SECOND = 64 };

/* Of the kernel's memory: struct epitem and struct eppoll_entry. */
enum { WATCHER_BYTES = 256 };

/* How many epolls there may be, so that the computer keeps three quarters of its memory. */
static unsigned epolls_that_fit(unsigned wanted)
{
	_cleanup_file_ FILE *file = fopen("/proc/meminfo", "re");
	unsigned long kib = 0, fit;
	char line[128];

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "MemAvailable: %lu", &kib) == 1)
			break;
	fit = kib * 1024 / 4 / WATCHER_BYTES / WATCHERS_DUPLICATES;
	return wanted < fit ? wanted : (unsigned)fit;
}

/* Closes this process's descriptors of the file; the epolls still watch it. */
static void forget(struct watchers *watchers)
{
	while (watchers->n_duplicates)
		close(watchers->duplicates[--watchers->n_duplicates]);
}

static void unwatch(struct watchers *watchers)
{
	while (watchers->n_epolls)
		close(watchers->epolls[--watchers->n_epolls]);
}

static void say(unsigned n)
{
	printf("# %u watchers\n", n);
	fflush(stdout);
}

/* Every answer wakes the client's end. */
static _Noreturn int watch_own_end(void *argument)
{
	static struct watchers watchers;
	struct wire_packet packet;
	union wire_message info;
	int fd = attack_greet(&packet);

	say(attack_watch(&watchers, fd, epolls_that_fit(OWN_EPOLLS), WATCHERS_DUPLICATES));
	attack_is_on();
	wire_begin(&info, WIRE_INFO);
	for (;;) {
		if (wire_send(fd, &info, NULL, 0) < 0 ||
			wire_receive(fd, WIRE_FROM_DAEMON, &packet) != 1)
			fd = attack_greet(&packet);
		wire_packet_done(&packet);
		attack_did(1);
		usleep(1000000 / REQUESTS_PER_SECOND);
	}
}

CASE("a client with a million watchers of its own end of the connection")
{
	attack_beside_victim(&(struct attack){
		.name = "answers to a connection with a million watchers",
		.body = watch_own_end,
		.n_processes = 1,
		.deeds = 1,
	});
}

/* Rings, and leaves the last reference of its doorbells to the daemon. */
static unsigned ring_and_leave(unsigned n_epolls, bool first)
{
	static struct watchers watchers;
	struct wire_packet packet;
	int fd = attack_greet(&packet);
	unsigned n = attack_watch(&watchers, packet.fds[1], n_epolls, WATCHERS_DUPLICATES);

	attack_ring(packet.fds[1]);
	if (first)
		attack_is_on();
	forget(&watchers);
	wire_packet_done(&packet);
	close(fd);
	usleep(10000); /* a daemon that closes it itself should have done so */
	unwatch(&watchers);
	attack_did(1);
	return n;
}

/* Uses as many watchers as possible once, and then fewer again and again. */
static _Noreturn int watch_doorbells(void *argument)
{
	say(ring_and_leave(epolls_that_fit(FIRST_EPOLLS), true));
	for (;;)
		ring_and_leave(epolls_that_fit(ROUND_EPOLLS), false);
}

CASE("a client with three million watchers of a doorbell that it rings and leaves")
{
	attack_beside_victim(&(struct attack){
		.name = "doorbells with three million watchers, rung and left",
		.body = watch_doorbells,
		.n_processes = 1,
		.deeds = 3,
	});
}

/* --- leaving behind a closer that is busy --- */

enum {
	HEAVY = 60,
	LATER = 8,
	HEAVY_DUPLICATES = 40,
	HEAVY_EPOLLS = 400,
	LIGHT_PROCESSES = 2,
	LIGHT = 200
};

/* A welcomed connection whose close wakes many watchers. Its duplicates are never closed. */
static int greet_heavy(struct watchers *watchers)
{
	struct wire_packet packet;
	int fd = attack_greet(&packet);

	wire_packet_done(&packet);
	attack_watch(watchers, fd, HEAVY_EPOLLS, HEAVY_DUPLICATES);
	return fd;
}

/* What to do on a connection next, after an answer or its end. */
typedef void again_fn(struct watchers *watchers, int *fd, bool is_answered);

static _Noreturn void converse(
	struct pollfd ends[], unsigned n, again_fn *again, struct watchers *watchers)
{
	struct wire_packet packet;

	for (;;) {
		poll(ends, n, -1);
		for (unsigned i = 0; i < n; i++) {
			bool is_answered;

			if (!ends[i].revents)
				continue;
			is_answered = wire_receive(ends[i].fd, WIRE_FROM_DAEMON, &packet) == 1;
			if (is_answered)
				wire_packet_done(&packet);
			again(watchers, &ends[i].fd, is_answered);
		}
	}
}

/* Most at once, which the account's closer is busy with, and some one by one, for the main
 * thread. */
static _Noreturn void leave_heavy(const int heavy[HEAVY + LATER])
{
	for (unsigned i = 0; i < HEAVY + LATER; i++) {
		if (i >= HEAVY)
			usleep(100000);
		shutdown(heavy[i], SHUT_RDWR);
		attack_did(1);
	}
	for (;;)
		pause();
}

static int say_hello(void)
{
	int fd = attack_connect();

	attack_say_hello(fd);
	return fd;
}

static void leave_and_come_back(struct watchers *watchers, int *fd, bool is_answered)
{
	close(*fd);
	*fd = say_hello();
}

/* Many connections at a time, each of which leaves as soon as it has its answer. */
static _Noreturn void leave_light(void)
{
	struct pollfd ends[LIGHT];

	for (unsigned i = 0; i < LIGHT; i++)
		ends[i] = (struct pollfd){ .fd = say_hello(), .events = POLLIN };
	converse(ends, LIGHT, leave_and_come_back, NULL);
}

static void start_light(void)
{
	for (unsigned i = 0; i < LIGHT_PROCESSES; i++)
		if (fork() == 0)
			leave_light();
}

static _Noreturn int only_leave_light(void *argument)
{
	start_light();
	attack_is_on();
	for (;;)
		pause();
}

static _Noreturn int leave_behind_a_busy_closer(void *argument)
{
	static struct watchers watchers;
	int heavy[HEAVY + LATER];

	for (unsigned i = 0; i < HEAVY + LATER; i++)
		heavy[i] = greet_heavy(&watchers);
	start_light();
	attack_is_on();
	leave_heavy(heavy);
}

/* So many that come and go make others wait by themselves. The closer must not add to that. */
CASE("clients that are welcomed and leave behind others whose close takes long")
{
	attack_beside_victim(&(struct attack){
		.name = "leaving behind a busy closer",
		.body = leave_behind_a_busy_closer,
		.at_rest = only_leave_light,
		.n_processes = 1,
		.deeds = HEAVY + LATER,
		.seconds = 2,
	});
}

/* --- messages that are answered, and cost a millisecond each --- */

enum { DEAR_CONNECTIONS = 8, DEAR_USERS = 10, FIRST_DEAR = 2000000, USER_IDS = 65536 };

/* That uncored keeps of a user who may come back. */
enum { USER_DESCRIPTORS = 4 };

/* A victim that comes while such a message is answered waits for its end, so only the daemon is
 * judged: the main thread has 10 % of a CPU for what users ask. */

static void ask_again(struct watchers *watchers, int *fd, bool is_answered)
{
	union wire_message info;

	if (!is_answered) {
		close(*fd);
		*fd = greet_heavy(watchers);
	}
	attack_did(is_answered);
	wire_begin(&info, WIRE_INFO);
	wire_send(*fd, &info, NULL, 0);
}

/* Asks on each connection again as soon as it is answered, and comes back where it is cut off. */
static _Noreturn void ask_dearly(void)
{
	static struct watchers watchers;
	struct pollfd ends[DEAR_CONNECTIONS];

	for (unsigned i = 0; i < DEAR_CONNECTIONS; i++) {
		ends[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
		ask_again(&watchers, &ends[i].fd, false);
	}
	converse(ends, DEAR_CONNECTIONS, ask_again, &watchers);
}

static _Noreturn int ask_dearly_as_one(void *argument)
{
	attack_is_on();
	ask_dearly();
}

/* No account has more than one of these ids. */
static _Noreturn int ask_dearly_as_ten(void *argument)
{
	attack_is_on();
	for (unsigned i = 0; i < DEAR_USERS; i++)
		if (fork() == 0) {
			attack_become(FIRST_DEAR + i * USER_IDS);
			ask_dearly();
		}
	for (;;)
		pause();
}

CASE("a user each of whose messages costs a millisecond")
{
	attack_beside_victim(&(struct attack){
		.name = "messages of a millisecond, of one user",
		.body = ask_dearly_as_one,
		.n_processes = 1,
		.deeds = 20,
		.seconds = 2,
		.busy_percent = 30,
		.only_daemon = true,
	});
}

CASE("ten users each of whose messages costs a millisecond")
{
	attack_beside_victim(&(struct attack){
		.name = "messages of a millisecond, of ten users",
		.body = ask_dearly_as_ten,
		.n_processes = 1,
		.begins_as_root = true,
		.deeds = 20,
		.seconds = 2,
		.busy_percent = 30,
		.kept = DEAR_USERS * USER_DESCRIPTORS,
		.only_daemon = true,
	});
}

int main(void)
{
	return attack_run();
}
