/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/close/closing.h"

#include <sys/epoll.h>

#include "common/macro.h"

void closing_queue_init(struct closing_queue *queue)
{
	*queue = (struct closing_queue){ .end = &queue->first };
}

void closing_queue_add(struct closing_queue *queue, struct closing *closing)
{
	closing->next = NULL;
	*queue->end = closing;
	queue->end = &closing->next;
	queue->n++;
}

struct closing *closing_queue_take(struct closing_queue *queue, struct closing **at)
{
	struct closing *closing = *at;

	*at = closing->next;
	if (!*at)
		queue->end = at;
	queue->n--;
	return closing;
}

bool closing_is_connection(const struct closing *closing)
{
	return closing->epoll_fd < 0;
}

bool closing_is_like(const struct closing *a, const struct closing *b)
{
	return a->account == b->account && closing_is_connection(a) == closing_is_connection(b);
}

static void close_one(struct closing *closing, struct socket_closer *sockets)
{
	if (closing_is_connection(closing)) {
		socket_closer_put(sockets, &closing->fd);
		return;
	}
	epoll_ctl(closing->epoll_fd, EPOLL_CTL_DEL, closing->fd, NULL);
	close_fd(&closing->fd);
}

void closing_queue_close(struct closing_queue *queue, struct socket_closer *sockets)
{
	for (struct closing *closing = queue->first; closing; closing = closing->next)
		close_one(closing, sockets);
	socket_closer_close_waiting(sockets);
}
