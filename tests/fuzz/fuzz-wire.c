/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any packet, from either side, with and without descriptors: wire_check() must look at nothing
 * beyond it, wire_receive() must agree with it, and a message that is right arrives as it was sent.
 */
#include <err.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/wire.h"
#include "tests/fuzz/target.h"

/*
 * Numbers of descriptors: none, one, all that a message may have, and more. The descriptors of the
 * last do not fit into the process.
 */
static const unsigned counts[] = { 0, 1, WIRE_FDS_MAX, WIRE_FDS_MAX + 2, 3 };
enum { MOST = WIRE_FDS_MAX + 2, NO_ROOM = ARRAY_SIZE(counts) - 1 };

static void make_pair(int pair[2], bool tells_who)
{
	const int on = tells_who; /* another kind of control message comes first */

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0 ||
		setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0)
		err(1, "Cannot make a connection");
}

static void limit_descriptors(rlim_t n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		err(1, "Cannot see the limit of descriptors");
	limit.rlim_cur = n;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* As wire_send(), which refuses to send what it should not. */
static void send_packet(int fd, const uint8_t *data, size_t size_bytes, unsigned n_fds)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * MOST)];
	} control = {};
	struct iovec part = { .iov_base = (void *)data, .iov_len = size_bytes };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };

	if (n_fds) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		for (unsigned i = 0; i < n_fds; i++)
			memcpy(CMSG_DATA(&control.header) + i * sizeof fd, &fd, sizeof fd);
		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
	}
	if (sendmsg(fd, &packet, MSG_NOSIGNAL) < 0)
		err(1, "Cannot send a packet");
}

static int receive(int fd, enum wire_sender sender, bool has_room, struct wire_packet *ret)
{
	struct rlimit usual;
	int next = dup(fd), r;

	close(next);
	if (next < 0 || getrlimit(RLIMIT_NOFILE, &usual) < 0)
		err(1, "Cannot see the limit of descriptors");
	if (!has_room)
		limit_descriptors((rlim_t)next + 1);
	r = wire_receive(fd, sender, ret);
	limit_descriptors(usual.rlim_cur);
	return r;
}

static void pass_on(const int pair[2], const struct wire_packet *packet, enum wire_sender sender)
{
	struct wire_packet again;

	if (wire_send(pair[0], &packet->message, packet->fds, packet->n_fds) < 0 ||
		wire_receive(pair[1], sender, &again) != 1 || again.n_fds != packet->n_fds ||
		memcmp(&again.message, &packet->message, packet->message.header.size) != 0)
		abort();
	wire_packet_done(&again);
}

static void exchange(
	const uint8_t *data, size_t size_bytes, enum wire_sender sender, unsigned count)
{
	int checked = wire_check(data, size_bytes, sender), pair[2], r;
	struct wire_packet packet;

	make_pair(pair, sender == WIRE_FROM_CLIENT);
	send_packet(pair[0], data, size_bytes, counts[count]);
	r = receive(pair[1], sender, count != NO_ROOM, &packet);
	if (r == 1) {
		if (checked < 0 || packet.n_fds != counts[count])
			abort();
		pass_on(pair, &packet, sender);
		wire_packet_done(&packet);
	} else if (counts[count] <= 1 && size_bytes && r != checked) {
		abort();
	}
	close(pair[0]);
	if (wire_receive(pair[1], sender, &packet) != 0)
		abort();
	close(pair[1]);
}

/* An error's sentence is cut to fit, and the error is a valid message. */
static void say(const uint8_t *data, size_t size_bytes)
{
	union wire_message message;

	wire_error(&message, -EINVAL, "%.*s", (int)size_bytes, (const char *)data);
	if (wire_check(&message, message.header.size, WIRE_FROM_DAEMON) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	for (int sender = WIRE_FROM_CLIENT; sender <= WIRE_FROM_DAEMON; sender++) {
		if (wire_check(data, size_bytes, (enum wire_sender)sender) == 0 &&
			size_bytes > WIRE_MESSAGE_MAX)
			abort();
		for (unsigned count = 0; count < ARRAY_SIZE(counts); count++)
			exchange(data, size_bytes, (enum wire_sender)sender, count);
	}
	if (size_bytes)
		say(data, size_bytes);
	return 0;
}
