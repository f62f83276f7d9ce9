/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending, receiving and checking the messages of wire.h. Both ends use exactly this code. */
#include "common/wire.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/macro.h"

/* --- contents --- */

static bool error_is_right(const union wire_message *message)
{
	const struct wire_error *error = &message->error;

	return error->error < 0 && memchr(error->text, '\0', sizeof error->text);
}

/* Fields that a wish does not name are 0. */
static bool team_is_right(const union wire_message *message)
{
	const struct wire_team *team = &message->team;
	bool is_named = team_name_is_valid(team->name);

	switch (team->wish) {
	case TEAM_JOIN:
		return is_named && team->uid == TEAM_OWN && !team->number;
	case TEAM_LOOK:
		return (*team->name ? is_named && !team->number : !team->run) && !team->bytes &&
		       !team->layout;
	case TEAM_FORGET:
		return is_named && !team->bytes && !team->number;
	default:
		return false;
	}
}

static bool last_is_right(const union wire_message *message)
{
	return message->team.wish == TEAM_LOOK && message->team.run && team_is_right(message);
}

static bool reading_is_right(const union wire_message *message)
{
	return message->reading.n_sockets;
}

static bool table_is_right(const union wire_message *message)
{
	const struct wire_table *table = &message->table;

	return table->run && table->bytes && team_name_is_valid(table->name) &&
	       (table->n_others ? team_name_is_valid(table->other) : !*table->other);
}

static const struct message_kind {
	enum wire_opcode opcode;
	enum wire_sender sender;
	uint32_t size_bytes;
	bool (*is_right)(const union wire_message *message); /* NULL: any content is */
} messages[] = {
	{ WIRE_HELLO, WIRE_FROM_CLIENT, sizeof(struct wire_hello), NULL },
	{ WIRE_INFO, WIRE_FROM_CLIENT, sizeof(struct wire_info), NULL },
	{ WIRE_OWNER, WIRE_FROM_CLIENT, sizeof(struct wire_owner), NULL },
	{ WIRE_RENEW, WIRE_FROM_CLIENT, sizeof(struct wire_renew), NULL },
	{ WIRE_TEAM, WIRE_FROM_CLIENT, sizeof(struct wire_team), team_is_right },
	{ WIRE_CLIENTS, WIRE_FROM_CLIENT, sizeof(struct wire_clients), NULL },
	{ WIRE_LAST, WIRE_FROM_CLIENT, sizeof(struct wire_team), last_is_right },
	{ WIRE_DONE, WIRE_FROM_DAEMON, sizeof(struct wire_done), NULL },
	{ WIRE_WELCOME, WIRE_FROM_DAEMON, sizeof(struct wire_welcome), NULL },
	{ WIRE_RENEWED, WIRE_FROM_DAEMON, sizeof(struct wire_renewed), NULL },
	{ WIRE_TABLE, WIRE_FROM_DAEMON, sizeof(struct wire_table), table_is_right },
	{ WIRE_REPORT, WIRE_FROM_DAEMON, sizeof(struct wire_report), NULL },
	{ WIRE_READING, WIRE_FROM_DAEMON, sizeof(struct wire_reading), reading_is_right },
	{ WIRE_ERROR, WIRE_FROM_DAEMON, sizeof(struct wire_error), error_is_right },
};

/* All requests begin with the same fields, and have a second reserved field at the same offset. */
static_assert(
	offsetof(struct wire_hello, reserved) == offsetof(struct wire_info, reserved) &&
		offsetof(struct wire_hello, reserved) == offsetof(struct wire_owner, reserved) &&
		offsetof(struct wire_hello, reserved) == offsetof(struct wire_renew, reserved) &&
		offsetof(struct wire_hello, reserved) == offsetof(struct wire_team, reserved) &&
		offsetof(struct wire_hello, reserved) == offsetof(struct wire_clients, reserved),
	"requests");

static const struct message_kind *find_kind(unsigned opcode)
{
	for (size_t i = 0; i < ARRAY_SIZE(messages); i++)
		if (messages[i].opcode == opcode)
			return &messages[i];
	return NULL;
}

int wire_check(const void *packet, size_t size_bytes, enum wire_sender sender)
{
	const struct message_kind *kind;
	union wire_message message;

	if (size_bytes < sizeof message.header || size_bytes > WIRE_MESSAGE_MAX)
		return -EBADMSG;
	memcpy(&message, packet, size_bytes); /* @packet may not be aligned */
	if (message.header.size != size_bytes || message.header.reserved)
		return -EBADMSG;
	kind = find_kind(message.header.opcode);
	if (!kind || kind->sender != sender)
		return -EOPNOTSUPP;
	if (size_bytes != kind->size_bytes ||
		(sender == WIRE_FROM_CLIENT && message.hello.reserved) ||
		(kind->is_right && !kind->is_right(&message)))
		return -EBADMSG;
	return 0;
}

uint64_t wire_hash(const void *bytes, size_t size_bytes)
{
	const unsigned char *byte = bytes;
	uint64_t hash = 0xcbf29ce484222325U;

	for (size_t i = 0; i < size_bytes; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3U;
	return hash;
}

uint64_t wire_report_end_at(uint64_t json_bytes)
{
	return (json_bytes + 7) / 8 * 8;
}

void wire_begin(union wire_message *ret_message, enum wire_opcode opcode)
{
	const struct message_kind *kind = find_kind(opcode);

	assert(kind);
	memset(ret_message, 0, sizeof *ret_message);
	ret_message->header.opcode = opcode;
	ret_message->header.size = kind->size_bytes;
}

void wire_error(union wire_message *ret_message, int error, const char *format, ...)
{
	va_list args;

	assert(error < 0);
	wire_begin(ret_message, WIRE_ERROR);
	ret_message->error.error = error;
	va_start(args, format);
	vsnprintf(ret_message->error.text, sizeof ret_message->error.text, format, args);
	va_end(args);
}

/* Room for the descriptors of one message, aligned as cmsg(3) requires. */
union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int) * WIRE_FDS_MAX)];
};

int wire_send(int socket_fd, const union wire_message *message, const int fds[], unsigned n_fds)
{
	struct iovec part = { .iov_base = (void *)message, .iov_len = message->header.size };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control = {};

	assert(n_fds <= WIRE_FDS_MAX);
	if (n_fds) {
		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * n_fds);
	}
	if (sendmsg(socket_fd, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

static void take_descriptors(struct msghdr *packet, struct wire_packet *ret)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(packet); c; c = CMSG_NXTHDR(packet, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		ret->n_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(ret->fds, CMSG_DATA(c), ret->n_fds * sizeof(int));
	}
}

int wire_receive(int socket_fd, enum wire_sender sender, struct wire_packet *ret)
{
	union control control;
	struct iovec part = { .iov_base = ret->message.bytes, .iov_len = WIRE_MESSAGE_MAX };
	struct msghdr packet = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		/* Not CMSG_SPACE: its padding would let in one descriptor too many for ret->fds. */
		.msg_controllen = CMSG_LEN(sizeof(int) * WIRE_FDS_MAX),
	};
	ssize_t n;
	int r;

	ret->n_fds = 0;
	n = recvmsg(socket_fd, &packet, MSG_CMSG_CLOEXEC);
	if (n < 0)
		return -errno;
	take_descriptors(&packet, ret);
	if (n == 0 && ret->n_fds == 0)
		return 0;
	/* @ret has room left, so this process had no free descriptors (net/core/scm.c). */
	if (packet.msg_flags & MSG_CTRUNC && ret->n_fds < WIRE_FDS_MAX)
		r = -EMFILE;
	else if (packet.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		r = -EBADMSG;
	else
		r = wire_check(ret->message.bytes, n, sender);
	if (r < 0) {
		wire_packet_done(ret);
		return r;
	}
	return 1;
}

int wire_peek(int socket_fd, enum wire_sender sender, union wire_message *ret)
{
	ssize_t n = recv(socket_fd, ret->bytes, WIRE_MESSAGE_MAX, MSG_PEEK | MSG_TRUNC);

	return n < 0 ? -errno : wire_check(ret->bytes, (size_t)n, sender);
}

void wire_packet_done(struct wire_packet *packet)
{
	while (packet->n_fds)
		close_fd(&packet->fds[--packet->n_fds]);
}
