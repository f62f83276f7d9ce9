/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that close what clients hold the other end of. To close a connection or a doorbell can
 * take as long as its client pleases: the kernel walks all that the client's epolls watch there, or
 * takes the mutex of such an epoll, which the client can keep by a page fault that it holds open.
 * So neither the main thread nor a reader ever closes one.
 *
 * What one account holds is closed one by one, by one thread at a time: an account whose close
 * hangs keeps one thread, and nobody else waits. There is one thread at rest; others are started
 * while threads hang, CLOSERS_MAX at most.
 */
#pragma once

#include <stdbool.h>

#include "daemon/budget.h"

enum { CLOSERS_MAX = 64 };

struct closers;

/* Starts the first thread. -ENOMEM; errno of pthread_create(3). */
int closers_new(struct closers **ret);

/*
 * Ends the threads when all is closed that can be at once. A thread that hangs is left to the end
 * of the process, with its part of the memory. NULL is nothing. Returns NULL.
 */
struct closers *closers_free(struct closers *closers);

/* Shuts *@fd, a connection of @account (or ACCOUNTS_NONE), down and closes it. It is -1 then. */
void closers_close_connection(struct closers *closers, unsigned account, int *fd);

/* Takes *@fd, a doorbell of @account, out of the epoll @epoll_fd and closes it. It is -1 then. */
void closers_close_doorbell(struct closers *closers, unsigned account, int epoll_fd, int *fd);

/* Has a close of @account been going on for so long that it must be called hanging? */
bool closers_hang(struct closers *closers, unsigned account);

/* How many descriptors have yet to be closed. */
unsigned closers_pending(struct closers *closers);

/* Charges accounts what closing has cost since the last time. */
void closers_charge(struct closers *closers, struct budget *budget);
