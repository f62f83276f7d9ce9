/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that close what clients hold the other end of. To close a connection or a doorbell can
 * take as long as its client pleases: the kernel walks all that the client's epolls watch there, or
 * takes the mutex of such an epoll, which the client can keep by a page fault that it holds open.
 * So neither the main thread nor a reader ever closes one.
 *
 * What one account holds is closed one by one, by one thread at a time: an account whose close
 * hangs keeps one thread, and nobody else waits. Nor do its own connections, which do not hang, so
 * that those that are refused meanwhile do not pile up. There are two threads at rest: one closes,
 * and the other takes over as soon as that is slow. Others are started while threads hang,
 * CLOSERS_MAX at most.
 */
#pragma once

#include <stdbool.h>

#include "daemon/read/budget.h"

enum { CLOSERS_MAX = 64 };

struct closers;

/* Starts the first thread. -ENOMEM; errno of pthread_create(3). */
int closers_new(struct closers **ret);

/*
 * Ends the threads when all is closed that can be at once. A thread that hangs is left to the end
 * of the process, with its part of the memory. NULL is nothing. Returns NULL.
 */
struct closers *closers_free(struct closers *closers);

/* Shuts *@fd, a connection of @account, down and closes it. It is -1 then. ACCOUNTS_NONE is nobody,
 * and is charged nothing. */
void closers_close_connection(struct closers *closers, unsigned account, int *fd);

/* Takes *@fd, a doorbell of @account, out of the epoll @epoll_fd and closes it. It is -1 then. */
void closers_close_doorbell(struct closers *closers, unsigned account, int epoll_fd, int *fd);

/* The main thread hands over what it has closed so far. It does so by itself when that is much. */
void closers_hand_over(struct closers *closers);

/*
 * Has a close of @account been going on for so long that it must be called hanging? Or has it more
 * doorbells that are yet to be closed than any honest one?
 */
bool closers_hang(struct closers *closers, unsigned account);

/* How many descriptors have yet to be closed, handed over or not. */
unsigned closers_pending(struct closers *closers);

/* Charges accounts what closing has cost since the last time. */
void closers_charge(struct closers *closers, struct budget *budget);
