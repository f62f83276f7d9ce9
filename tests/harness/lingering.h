/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A descriptor whose close(2) blocks: a TCP socket of the loopback device with unsent data, for a
 * peer that does not read, and SO_LINGER. For tests that leave its last reference to another
 * process.
 */
#pragma once

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "common/macro.h"

enum { LINGER_S = 3600 };

struct lingering {
	int fd;      /* closing it blocks */
	int peer_fd; /* its peer, which does not read; closing it ends the wait */
};

/* Gives the socket the smallest buffers that the kernel permits, so that many sockets are cheap. */
static inline void lingering_shrink(int fd)
{
	const int bytes = 1;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

/* Connects the two sockets; false: errno says why not. */
static inline bool lingering_connect(struct lingering *ret)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof address;
	_cleanup_close_ int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ret->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	lingering_shrink(listener);
	lingering_shrink(ret->fd);
	if (listener < 0 || bind(listener, (const void *)&address, size) < 0 ||
		listen(listener, 1) < 0 || getsockname(listener, (void *)&address, &size) < 0 ||
		connect(ret->fd, (const void *)&address, size) < 0)
		return false;
	ret->peer_fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	return ret->peer_fd >= 0;
}

static inline bool lingering_open(struct lingering *ret)
{
	static const char bytes[65536];
	const struct linger linger = { .l_onoff = 1, .l_linger = LINGER_S };

	*ret = (struct lingering){ -1, -1 };
	if (!lingering_connect(ret))
		return false;
	while (send(ret->fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
	return setsockopt(ret->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) == 0;
}

static inline void lingering_close(struct lingering *lingering)
{
	close_fd(&lingering->peer_fd);
	close_fd(&lingering->fd);
}

/* Sends a message with @fd attached. Never waits. */
static inline bool lingering_send(int socket_fd, const void *bytes, size_t size, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof fd)];
	} control = { .bytes = { 0 } };
	struct iovec part = { .iov_base = (void *)bytes, .iov_len = size };
	struct msghdr packet = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof control.bytes,
	};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	return sendmsg(socket_fd, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}
