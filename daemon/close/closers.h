/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that close connections and doorbells, the other end of which clients hold. Closing one
 * can take as long as its client pleases: the kernel walks all watches that the client's epolls
 * have there, or takes the mutex of such an epoll, which the client can keep locked by a page fault
 * that it holds open. So neither the main thread nor a reader ever closes one.
 *
 * One thread at a time closes the doorbells of an account, one by one: an account whose close hangs
 * keeps one thread, and no other account waits. Nor do the account's own connections wait: they do
 * not hang, so those refused meanwhile do not pile up. There are two threads at rest: one closes,
 * and the other takes over as soon as the first is slow. More are started while threads hang,
 * CLOSERS_MAX at most.
 *
 * What waits to be closed is counted for each account, so that no user takes the descriptors of
 * others. An account that has many waiting is a crowd: its newcomers are turned away, and they are
 * closed without the threads where that is as safe.
 */
#pragma once

#include <stdbool.h>

#include "daemon/read/budget.h"

enum { CLOSERS_MAX = 64 };

struct closers;

/* Starts the first thread, and reads the limit of open files. -ENOMEM; errno of
 * pthread_create(3). */
int closers_new(struct closers **ret);

/*
 * Ends the threads when all is closed that can be closed at once. A thread that hangs is left to
 * the end of the process, with its part of the memory. @closers may be NULL. Returns NULL.
 */
struct closers *closers_free(struct closers *closers);

/* Shuts down and closes *@fd, a connection of @account, and sets it to -1. With ACCOUNTS_NONE the
 * close is charged to nobody. */
void closers_close_connection(struct closers *closers, unsigned account, int *fd);

/*
 * As the last, if the client was welcomed and has left: for a crowd it does not count. If
 * HANDOVER_FULL of any accounts wait, the main thread closes it itself, if that waits for nothing:
 * the closers may have no CPU while it has one, and clients come and go meanwhile. The client's end
 * is closed, so nobody watches it and would have to be woken.
 */
void closers_close_served(struct closers *closers, unsigned account, int *fd);

/*
 * Closes *@fd, a connection of @account that nobody has answered, and sets it to -1. The main
 * thread closes it itself if that waits for nothing, or if HANDOVER_FULL wait.
 */
void closers_turn_away(struct closers *closers, unsigned account, int *fd);

/* Takes *@fd, a doorbell of @account, out of the epoll @epoll_fd, closes it and sets it to -1. */
void closers_close_doorbell(struct closers *closers, unsigned account, int epoll_fd, int *fd);

/* Wakes a thread for what there is to close. With much to close that happens by itself. */
void closers_hand_over(struct closers *closers);

/*
 * Has a close of @account gone on for so long that it counts as hanging? Or has @account more
 * doorbells yet to be closed than any honest account?
 */
bool closers_hang(const struct closers *closers, unsigned account);

/* Has @account HANDOVER_CROWD descriptors that wait to be closed? */
bool closers_has_crowd(const struct closers *closers, unsigned account);

/* How many descriptors have yet to be closed. */
unsigned closers_pending(const struct closers *closers);

/* Charges each account for closing since the last call. What a thread is at is charged with the
 * next call. */
void closers_charge(struct closers *closers, struct budget *budget);
