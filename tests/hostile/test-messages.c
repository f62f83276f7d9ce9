/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Malformed messages, floods of messages, messages with descriptors, messages that cost too much,
 * and requests whose answers nobody reads.
 */
#include "tests/hostile/attack.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/wire.h"

enum { CLIENTS = 16, SENT_FDS_MAX = 253 }; /* SCM_MAX_FD of the kernel */

/* Clients that connect again whenever the daemon has dropped them. */
static int clients[CLIENTS];

static void come_back(unsigned i)
{
	struct wire_packet packet;

	if (clients[i] > 0)
		close(clients[i]);
	clients[i] = attack_connect();
	if (attack_hello(clients[i], &packet))
		wire_packet_done(&packet);
	else
		clients[i] = -1;
}

static void come_all(void)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		come_back(i);
	attack_is_on();
}

/* Never waits: if the queue is full, it is the next client's turn. */
static void send_to(unsigned i, const void *bytes, size_t size)
{
	if (send(clients[i], bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		attack_did(1);
	else if (errno != EAGAIN)
		come_back(i);
}

static _Noreturn int ask_and_never_read(void *argument)
{
	union wire_message info;

	wire_begin(&info, WIRE_INFO);
	come_all();
	for (unsigned i = 0;; i = (i + 1) % CLIENTS)
		send_to(i, &info, sizeof info.info);
}

CASE("never reading the answers")
{
	attack_beside_victim(&(struct attack){
		.name = "never reading the answers",
		.body = ask_and_never_read,
		.n_processes = 1,
		.deeds = 1000,
		.busy_percent = 90,
	});
}

static size_t make_nonsense(unsigned kind, char bytes[], size_t most)
{
	union wire_message *message = (void *)bytes;
	uint16_t size = 0;

	wire_begin(message, WIRE_HELLO);
	message->hello.version = WIRE_VERSION;
	switch (kind) {
	case 0: /* partial */
		return sizeof message->hello - 1;
	case 1: /* oversized */
		return most;
	case 2: /* replayed */
		return sizeof message->hello;
	case 3: /* of another sender */
		wire_begin(message, WIRE_WELCOME);
		return sizeof message->welcome;
	case 4: /* random */
		if (getrandom(bytes, most, 0) < 0 || getrandom(&size, sizeof size, 0) < 0)
			_exit(97);
		return 1 + size % most;
	default: /* random with a good header */
		if (getrandom(bytes, most, 0) < 0)
			_exit(97);
		message->header = (struct wire_header){ .opcode = (uint16_t)kind, .size = 16 };
		return 16;
	}
}

static _Noreturn int send_nonsense(void *argument)
{
	char bytes[WIRE_MESSAGE_MAX * 4] __attribute__((aligned(8))) = "";

	come_all();
	for (unsigned k = 0;; k++) {
		size_t size = make_nonsense(k % 8, bytes, sizeof bytes);

		send_to(k / 8 % CLIENTS, bytes, size);
	}
}

CASE("partial, oversized, random and replayed messages")
{
	attack_beside_victim(&(struct attack){
		.name = "partial, oversized, random and replayed messages",
		.body = send_nonsense,
		.n_processes = 1,
		.deeds = 1000,
		.busy_percent = 90,
	});
}

/* Sends @n descriptors with a message; each is the other end of the connection that carries it. */
static bool send_descriptors(int fd, const void *bytes, size_t size, unsigned n)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * SENT_FDS_MAX)];
	} control;
	struct iovec part = { .iov_base = (void *)bytes, .iov_len = size };
	struct msghdr packet = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = CMSG_SPACE(sizeof(int) * n),
	};

	memset(&control, 0, sizeof control);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int) * n);
	for (unsigned i = 0; i < n; i++)
		memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &fd, sizeof fd);
	return sendmsg(fd, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static _Noreturn int pass_descriptors(void *argument)
{
	static const unsigned counts[] = { 1, WIRE_FDS_MAX, WIRE_FDS_MAX + 1, SENT_FDS_MAX };
	union wire_message info;

	wire_begin(&info, WIRE_INFO);
	come_all();
	for (unsigned k = 0;; k++) {
		unsigned i = k / 4 % CLIENTS;

		if (send_descriptors(clients[i], &info, sizeof info.info, counts[k % 4]))
			attack_did(1);
		else if (errno == EPERM)
			attack_did(1); /* SO_PASSRIGHTS */
		else if (errno != EAGAIN && errno != ETOOMANYREFS)
			come_back(i);
	}
}

CASE("passing descriptors")
{
	attack_beside_victim(&(struct attack){
		.name = "up to 253 descriptors with each message",
		.body = pass_descriptors,
		.n_processes = 1,
		.deeds = 1000,
		.busy_percent = 90,
	});
}

/* --- messages that cost too much --- */

/* Half a million watchers of the client's end: each answer wakes them all, which takes the daemon
 * tens of milliseconds. */
enum { DEAR_USER = 2000000, DUPLICATES = 1000, EPOLLS = 500, QUESTIONS = 40, PATIENCE_S = 120 };

static void watch_dearly(int fd)
{
	static struct watchers watchers;

	if (attack_watch(&watchers, fd, EPOLLS, DUPLICATES) < DUPLICATES * EPOLLS)
		_exit(98);
}

/* Returns how many questions were answered until the connection was closed. */
static int ask_dearly(void *argument)
{
	struct wire_packet packet;
	union wire_message info;
	int fd = attack_greet(&packet), n = 0;

	wire_packet_done(&packet);
	watch_dearly(fd);
	wire_begin(&info, WIRE_INFO);
	while (n < QUESTIONS && wire_send(fd, &info, NULL, 0) >= 0 &&
		wire_receive(fd, WIRE_FROM_DAEMON, &packet) == 1) {
		wire_packet_done(&packet);
		n++;
	}
	return n;
}

CASE("who has taken 100 ms by messages of more than 5 ms is cut off by the next one")
{
	assert_in_range(
		wait_for(start_as(DEAR_USER, ask_dearly, NULL), PATIENCE_S), 2, QUESTIONS - 1);
}

int main(void)
{
	return attack_run();
}
