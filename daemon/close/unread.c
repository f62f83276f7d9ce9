/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/close/unread.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "common/array.h"
#include "common/macro.h"

struct unread_connection {
	unsigned account;
	unsigned place; /* in unread->connections */
	int fd;
};

int unread_init(struct unread *unread)
{
	*unread = (struct unread){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	return unread->epoll_fd < 0 ? -errno : 0;
}

/* Gives back the connection's descriptor, which is not watched any more. */
static int unread_forget(struct unread *unread, struct unread_connection *connection)
{
	struct unread_connection *last = unread->connections[--unread->n];
	int fd = connection->fd;

	epoll_ctl(unread->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	last->place = connection->place;
	unread->connections[last->place] = last;
	free(connection);
	return fd;
}

void unread_done(struct unread *unread)
{
	free(unread->connections);
	close_fd(&unread->epoll_fd);
}

/* As the kernel frees a message, it says so while one byte of it still counts (net/core/sock.c,
 * sock_wfree()). */
bool unread_is_left(int fd)
{
	int bytes;

	return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 1;
}

/* Edge-triggered, because the connection can be written to most of the time, and its client may
 * have left. Each message that is received, or freed with its socket, is an edge. */
bool unread_keep(struct unread *unread, unsigned account, int *fd)
{
	struct unread_connection *connection = malloc(sizeof *connection);
	struct epoll_event event = { .events = EPOLLOUT | EPOLLET, .data.ptr = connection };

	if (!connection || array_room(&unread->connections, unread->n, sizeof connection) < 0 ||
		epoll_ctl(unread->epoll_fd, EPOLL_CTL_ADD, *fd, &event) < 0) {
		free(connection);
		return false;
	}
	*connection = (struct unread_connection){ account, unread->n, take_fd(fd) };
	unread->connections[unread->n++] = connection;
	return true;
}

bool unread_take_received(struct unread *unread, unsigned *ret_account, int *ret_fd)
{
	struct epoll_event event;

	while (unread->n && epoll_wait(unread->epoll_fd, &event, 1, 0) == 1) {
		struct unread_connection *connection = event.data.ptr;

		if (unread_is_left(connection->fd))
			continue;
		*ret_account = connection->account;
		*ret_fd = unread_forget(unread, connection);
		return true;
	}
	return false;
}

bool unread_take_last(struct unread *unread, unsigned *ret_account, int *ret_fd)
{
	struct unread_connection *last;

	if (!unread->n)
		return false;
	last = unread->connections[unread->n - 1];
	*ret_account = last->account;
	*ret_fd = unread_forget(unread, last);
	return true;
}
