/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/harness/test.h"

static const struct {
	enum wire_opcode opcode;
	enum wire_sender sender;
} kinds[] = {
	{ WIRE_HELLO, WIRE_FROM_CLIENT },
	{ WIRE_INFO, WIRE_FROM_CLIENT },
	{ WIRE_OWNER, WIRE_FROM_CLIENT },
	{ WIRE_RENEW, WIRE_FROM_CLIENT },
	{ WIRE_TEAM, WIRE_FROM_CLIENT },
	{ WIRE_CLIENTS, WIRE_FROM_CLIENT },
	{ WIRE_LAST, WIRE_FROM_CLIENT },
	{ WIRE_DONE, WIRE_FROM_DAEMON },
	{ WIRE_WELCOME, WIRE_FROM_DAEMON },
	{ WIRE_RENEWED, WIRE_FROM_DAEMON },
	{ WIRE_TABLE, WIRE_FROM_DAEMON },
	{ WIRE_REPORT, WIRE_FROM_DAEMON },
	{ WIRE_READING, WIRE_FROM_DAEMON },
	{ WIRE_ERROR, WIRE_FROM_DAEMON },
};

/* Of the case: what is sent, what was received, and the sockets between. */
static union wire_message message;
static struct wire_packet packet;
static int pair[2];

static void make(enum wire_opcode opcode)
{
	if (opcode == WIRE_ERROR)
		wire_error(&message, -EDQUOT, "too many");
	else
		wire_begin(&message, opcode);
	if (opcode == WIRE_TEAM) {
		message.team.uid = TEAM_OWN;
		message.team.bytes = 65536;
		strcpy(message.team.name, "slurm.1.0");
	}
	if (opcode == WIRE_LAST) {
		message.team.wish = TEAM_LOOK;
		message.team.run = 1;
		strcpy(message.team.name, "slurm.1.0");
	}
	if (opcode == WIRE_READING)
		message.reading.n_sockets = 2;
	if (opcode == WIRE_TABLE) {
		message.table.run = 1;
		message.table.bytes = 65536;
		strcpy(message.table.name, "slurm.1.0");
	}
}

static int check(enum wire_sender sender)
{
	return wire_check(&message, message.header.size, sender);
}

static void make_pair(void)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
}

static void close_pair(void)
{
	close(pair[0]);
	close(pair[1]);
}

CASE("every message passes, from its sender only")
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		make(kinds[i].opcode);
		assert_int_equal(check(kinds[i].sender), 0);
		assert_int_equal(check(!kinds[i].sender), -EOPNOTSUPP);
	}
}

CASE("every wrong size is refused")
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		make(kinds[i].opcode);
		for (size_t n = 0; n <= WIRE_MESSAGE_MAX + 1; n++) {
			if (n == message.header.size)
				continue;
			assert_int_equal(wire_check(&message, n, kinds[i].sender), -EBADMSG);
		}
		message.header.size++;
		assert_int_equal(check(kinds[i].sender), -EBADMSG);
	}
}

#define FIELD(name) offsetof(union wire_message, name), sizeof message.name

/* One field is filled with a byte that it must not have. */
static const struct {
	enum wire_opcode opcode;
	size_t offset, size;
	int byte, expected;
} wrong_fields[] = {
	{ WIRE_HELLO, FIELD(hello.reserved), 1, -EBADMSG },
	{ WIRE_OWNER, FIELD(owner.reserved), 1, -EBADMSG },
	{ WIRE_TEAM, FIELD(team.reserved), 1, -EBADMSG },
	{ WIRE_TABLE, FIELD(table.n_others), 1, -EBADMSG }, /* without a name */
	{ WIRE_TABLE, FIELD(table.other), 1, -EBADMSG },
	{ WIRE_CLIENTS, FIELD(clients.reserved), 1, -EBADMSG },
	{ WIRE_INFO, FIELD(info.reserved), 1, -EBADMSG },
	{ WIRE_LAST, FIELD(team.reserved), 1, -EBADMSG },
	{ WIRE_LAST, FIELD(team.wish), 0, -EBADMSG },
	{ WIRE_LAST, FIELD(team.bytes), 1, -EBADMSG },
	{ WIRE_LAST, FIELD(team.run), 0, -EBADMSG },
	{ WIRE_LAST, FIELD(team.name), 'x', -EBADMSG }, /* it has no end */
	{ WIRE_READING, FIELD(reading.n_sockets), 0, -EBADMSG },
	{ WIRE_HELLO, FIELD(header.reserved), 1, -EBADMSG },
	{ WIRE_HELLO, FIELD(header.opcode), 77, -EOPNOTSUPP },
	{ WIRE_ERROR, FIELD(error.error), 0, -EBADMSG },
	{ WIRE_ERROR, FIELD(error.text), 'x', -EBADMSG }, /* it has no end */
	{ WIRE_TABLE, FIELD(table.run), 0, -EBADMSG },
	{ WIRE_TABLE, FIELD(table.bytes), 0, -EBADMSG },
	{ WIRE_TABLE, FIELD(table.name), 0, -EBADMSG },
};

static enum wire_sender sender_of(enum wire_opcode opcode)
{
	size_t i = 0;

	while (kinds[i].opcode != opcode)
		i++;
	return kinds[i].sender;
}

CASE("a message with a wrong field is refused: reserved, unknown, empty or without end")
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong_fields); i++) {
		make(wrong_fields[i].opcode);
		memset((char *)&message + wrong_fields[i].offset, wrong_fields[i].byte,
			wrong_fields[i].size);
		assert_int_equal(
			check(sender_of(wrong_fields[i].opcode)), wrong_fields[i].expected);
	}
}

static int check_team(const struct wire_team *fields)
{
	wire_begin(&message, WIRE_TEAM);
	message.team = *fields;
	message.team.header = (struct wire_header){ .opcode = WIRE_TEAM, .size = sizeof *fields };
	return check(WIRE_FROM_CLIENT);
}

CASE("a wish for a table has its own fields only")
{
	static const struct wire_team right[] = {
		{ .wish = TEAM_JOIN, .uid = TEAM_OWN, .run = 3, .bytes = 1, .layout = 7, .name = "a" },
		{ .wish = TEAM_LOOK, .uid = TEAM_OWN, .number = 3 },
		{ .wish = TEAM_LOOK, .uid = 1000, .run = 3, .name = "a" },
		{ .wish = TEAM_LOOK, .name = "a" },
		{ .wish = TEAM_FORGET, .uid = 1000, .run = 3, .layout = 7, .name = "a" },
	}, wrong[] = {
		{ .wish = TEAM_JOIN, .uid = 1000, .bytes = 1, .name = "a" },
		{ .wish = TEAM_JOIN, .uid = TEAM_OWN, .bytes = 1 },
		{ .wish = TEAM_JOIN, .uid = TEAM_OWN, .bytes = 1, .number = 1, .name = "a" },
		{ .wish = TEAM_LOOK, .run = 1 },
		{ .wish = TEAM_LOOK, .number = 1, .name = "a" },
		{ .wish = TEAM_LOOK, .bytes = 1 },
		{ .wish = TEAM_LOOK, .layout = 1 },
		{ .wish = TEAM_FORGET, .run = 1 },
		{ .wish = TEAM_FORGET, .run = 1, .bytes = 1, .name = "a" },
		{ .wish = TEAM_FORGET, .run = 1, .number = 1, .name = "a" },
		{ .wish = TEAM_FORGET + 1, .name = "a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(right); i++)
		assert_int_equal(check_team(&right[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(check_team(&wrong[i]), -EBADMSG);
}

CASE("a name of a team is printable, and ends")
{
	static const char *const wrong[] = { " ", "a b", "a:b", "a\n", "\x7f", "\xe4", "\x1b[0m" };
	struct wire_team team = { .uid = TEAM_OWN, .bytes = 1, .name = "!~[]{}/-_.,;%\\" };

	assert_int_equal(check_team(&team), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		strcpy(team.name, wrong[i]);
		assert_int_equal(check_team(&team), -EBADMSG);
	}
	memset(team.name, 'x', sizeof team.name);
	assert_int_equal(check_team(&team), -EBADMSG);
	team.name[TEAM_NAME_BYTES - 1] = '\0';
	assert_int_equal(check_team(&team), 0);
}

CASE("a long sentence is cut")
{
	char sentence[2 * WIRE_TEXT_MAX];

	memset(sentence, 'x', sizeof sentence - 1);
	sentence[sizeof sentence - 1] = '\0';
	wire_error(&message, -EPERM, "%s", sentence);
	assert_int_equal(check(WIRE_FROM_DAEMON), 0);
	assert_int_equal(strlen(message.error.text), WIRE_TEXT_MAX - 1);
}

CASE("messages and descriptors arrive")
{
	int fds[WIRE_FDS_MAX];

	make_pair();
	for (int i = 0; i < WIRE_FDS_MAX; i++)
		fds[i] = pair[0];
	make(WIRE_WELCOME);
	message.welcome.page_bytes = 123456789012;
	assert_int_equal(wire_send(pair[0], &message, fds, WIRE_FDS_MAX), 0);
	assert_int_equal(wire_receive(pair[1], WIRE_FROM_DAEMON, &packet), 1);
	assert_int_equal(packet.message.welcome.page_bytes, 123456789012);
	assert_int_equal(packet.n_fds, WIRE_FDS_MAX);
	wire_packet_done(&packet);
	assert_int_equal(packet.n_fds, 0);
	close_pair();
}

/* A descriptor that this process must not have may come with a message. */
CASE("a message can be looked at before its descriptors come")
{
	const int fds[] = { STDERR_FILENO };
	int next;

	make_pair();
	make(WIRE_TABLE);
	message.table.run = 7;
	assert_int_equal(wire_send(pair[0], &message, fds, 1), 0);
	next = dup(STDERR_FILENO);
	close(next);
	for (int i = 0; i < 2; i++) {
		memset(&message, 0xff, sizeof message);
		assert_int_equal(wire_peek(pair[1], WIRE_FROM_DAEMON, &message), 0);
		assert_int_equal(message.table.run, 7);
		assert_int_equal(dup(STDERR_FILENO), next); /* none came */
		close(next);
	}
	assert_int_equal(wire_peek(pair[1], WIRE_FROM_CLIENT, &message), -EOPNOTSUPP);
	assert_int_equal(wire_receive(pair[1], WIRE_FROM_DAEMON, &packet), 1);
	assert_int_equal(packet.message.table.run, 7);
	assert_int_equal(packet.n_fds, 1);
	wire_packet_done(&packet);
	close_pair();
	make_pair();
	close(pair[0]);
	assert_int_equal(wire_peek(pair[1], WIRE_FROM_DAEMON, &message), -EBADMSG);
	close(pair[1]);
	assert_int_equal(wire_peek(pair[1], WIRE_FROM_DAEMON, &message), -EBADF);
}

CASE("a peer that closed is not an error")
{
	make_pair();
	close(pair[0]);
	assert_int_equal(wire_receive(pair[1], WIRE_FROM_DAEMON, &packet), 0);
	close(pair[1]);
}

CASE("sending never blocks")
{
	int r = 0;

	make_pair();
	make(WIRE_INFO);
	for (int i = 0; i < 100000 && r == 0; i++)
		r = wire_send(pair[0], &message, NULL, 0);
	assert_int_equal(r, -EAGAIN);
	close(pair[1]);
	assert_int_equal(
		wire_send(pair[0], &message, NULL, 0), -ECONNRESET); /* messages were unread */
	assert_int_equal(wire_send(pair[0], &message, NULL, 0), -EPIPE);
	close(pair[0]);
}

/* Sends any bytes with any number of copies of @fd, as a malicious peer can. */
static void send_raw(int to, const void *bytes, size_t size_bytes, int fd, unsigned n_fds)
{
	enum { FDS_MAX = 200 };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * FDS_MAX)];
	} control = {};
	struct iovec part = { .iov_base = (void *)bytes, .iov_len = size_bytes };
	struct msghdr raw = { .msg_iov = &part, .msg_iovlen = 1 };

	assert_true(n_fds <= FDS_MAX);
	if (n_fds) {
		raw.msg_control = &control;
		raw.msg_controllen = CMSG_LEN(sizeof(int) * n_fds);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		for (unsigned i = 0; i < n_fds; i++)
			memcpy(CMSG_DATA(&control.header) + i * sizeof fd, &fd, sizeof fd);
	}
	assert_int_equal(sendmsg(to, &raw, 0), size_bytes);
}

CASE("descriptors of bad packets are closed")
{
	static const unsigned counts[] = { 1, 2, 33, 34, 35, 200 };

	make_pair();
	make(WIRE_HELLO);
	message.header.reserved = 1;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		send_raw(pair[0], &message, message.header.size, pair[0], counts[i]);
		assert_int_equal(wire_receive(pair[1], WIRE_FROM_CLIENT, &packet), -EBADMSG);
		assert_int_equal(packet.n_fds, 0);
	}
	close_pair();
}

CASE("more descriptors than there is room for are refused")
{
	make_pair();
	make(WIRE_HELLO);
	for (unsigned n = WIRE_FDS_MAX + 1; n < WIRE_FDS_MAX + 4; n++) {
		send_raw(pair[0], &message, message.header.size, pair[0], n);
		assert_int_equal(wire_receive(pair[1], WIRE_FROM_CLIENT, &packet), -EBADMSG);
	}
	close_pair();
}

CASE("a process out of descriptors is told")
{
	struct rlimit limit, low;

	make_pair();
	make(WIRE_HELLO);
	send_raw(pair[0], &message, message.header.size, pair[0], 3);
	getrlimit(RLIMIT_NOFILE, &limit);
	low = (struct rlimit){ .rlim_cur = (rlim_t)pair[1] + 2, .rlim_max = limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &low);
	assert_int_equal(wire_receive(pair[1], WIRE_FROM_CLIENT, &packet), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &limit);
	close_pair();
}

CASE("an oversized packet is refused")
{
	char bytes[WIRE_MESSAGE_MAX + 1] = {};

	make_pair();
	make(WIRE_HELLO);
	memcpy(bytes, &message, message.header.size);
	send_raw(pair[0], bytes, sizeof bytes, -1, 0);
	assert_int_equal(wire_receive(pair[1], WIRE_FROM_CLIENT, &packet), -EBADMSG);
	close_pair();
}

/* Half of them begin as a message would, so that the later checks are reached too. */
static size_t make_random(unsigned char bytes[WIRE_MESSAGE_MAX + 64])
{
	size_t size_bytes = 1 + (size_t)random() % (WIRE_MESSAGE_MAX + 64);

	for (size_t i = 0; i < size_bytes; i++)
		bytes[i] = (unsigned char)random();
	if (random() % 2) {
		make(kinds[(size_t)random() % ARRAY_SIZE(kinds)].opcode);
		size_bytes = message.header.size;
		memcpy(bytes, &message, size_bytes);
		bytes[(size_t)random() % size_bytes] = (unsigned char)random();
	}
	return size_bytes;
}

CASE("100,000 random messages are checked alike everywhere")
{
	unsigned char bytes[WIRE_MESSAGE_MAX + 64];
	int n_good = 0;

	srandom(1);
	make_pair();
	for (int i = 0; i < 100000; i++) {
		size_t size_bytes = make_random(bytes);
		enum wire_sender sender = random() % 2;
		int expected = wire_check(bytes, size_bytes, sender);
		int r;

		send_raw(pair[0], bytes, size_bytes, pair[0], (unsigned)random() % 3);
		r = wire_receive(pair[1], sender, &packet);
		assert_int_equal(r, expected < 0 ? expected : 1);
		n_good += r == 1;
		wire_packet_done(&packet);
	}
	assert_in_range(n_good, 1, 99999);
	close_pair();
}
