/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors that are to be closed by another thread, and queues of them. */
#pragma once

#include <stdbool.h>

#include "daemon/serve/socket-closer.h"

struct closing {
	struct closing *next;
	unsigned account;
	int fd;
	int epoll_fd; /* that watches it, if it is a doorbell; -1: it is a connection */
};

/* Connections do not wait behind doorbells: only these can hang. */
bool closing_is_connection(const struct closing *closing);

/* One thread closes those that are like each other, one after the other. */
bool closing_is_like(const struct closing *a, const struct closing *b);

/* In the order in which they came; owns them. */
struct closing_queue {
	struct closing *first, **end;
	unsigned n;
};

void closing_queue_init(struct closing_queue *queue);
void closing_queue_add(struct closing_queue *queue, struct closing *closing);

/* Takes out the one that @at, a link of the queue, leads to; it becomes the caller's. */
struct closing *closing_queue_take(struct closing_queue *queue, struct closing **at);

/* Closes all of them; then frees them. */
void closing_queue_close(struct closing_queue *queue, struct socket_closer *sockets);
void closing_queue_free(struct closing_queue *queue);
