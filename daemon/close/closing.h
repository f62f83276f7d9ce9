/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors for another thread to close, and queues of them. */
#pragma once

#include <stdbool.h>

#include "daemon/close/socket-closer.h"

struct closing {
	struct closing *next;
	unsigned account;
	int fd;
	int epoll_fd;    /* the epoll that watches a doorbell; -1: this is a connection */
	bool was_served; /* its client was welcomed, and has left of its own accord */
};

/* Connections do not wait behind doorbells, because only the close of a doorbell can hang. */
bool closing_is_connection(const struct closing *closing);

/* Same account and same kind? One thread closes such descriptors, one after the other. */
bool closing_is_like(const struct closing *a, const struct closing *b);

/* First in, first out; owns its elements. */
struct closing_queue {
	struct closing *first, **end;
	unsigned n;
};

void closing_queue_init(struct closing_queue *queue);
void closing_queue_add(struct closing_queue *queue, struct closing *closing);

/* Takes the element at @at, a link of the queue, out of the queue. It becomes the caller's. */
struct closing *closing_queue_take(struct closing_queue *queue, struct closing **at);

/* Closes all descriptors; the elements stay. */
void closing_queue_close(struct closing_queue *queue, struct socket_closer *sockets);
