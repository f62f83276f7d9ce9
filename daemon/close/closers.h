/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that close connections and doorbells, which clients share. A client can make such a close
 * take as long as it likes. The kernel walks all watches that the client's epolls have there, or
 * takes the mutex of such an epoll, and the client can keep that mutex locked with a page fault
 * that it holds open. So a reader never closes one, and the main thread closes one only if that
 * waits for nothing.
 *
 * One thread at a time closes the doorbells of an account, one by one. If such a close hangs, it
 * keeps this one thread, and no other account waits. The account's own connections do not wait
 * either: closing them does not hang, so the connections refused meanwhile do not pile up. At rest
 * there are two threads: one closes, and the other takes over as soon as the first is slow. More
 * are started while threads hang, up to CLOSERS_MAX.
 *
 * Descriptors that wait to be closed are counted for each account, so that no user takes the
 * descriptors of others. An account with many of them is a *crowd*: its newcomers are turned away.
 * The main thread closes their connections itself where that is as safe.
 */
#pragma once

#include <stdbool.h>

#include "daemon/read/budget.h"

enum { CLOSERS_MAX = 64 };

struct closers;

/* Starts the first thread, and reads the limit of open files. -ENOMEM; errno of
 * pthread_create(3). */
int closers_new(struct closers **ret);

/* Ends the threads when everything is closed that can be closed at once. A thread that hangs stays
 * until the process ends, and @closers is not freed then. @closers may be NULL. Returns NULL. */
struct closers *closers_free(struct closers *closers);

/* Shuts down and closes *@fd, a connection of @account, and sets it to -1. With ACCOUNTS_NONE the
 * close is charged to nobody. */
void closers_close_connection(struct closers *closers, unsigned account, int *fd);

/*
 * As closers_close_connection(), for a client that was welcomed and has left: its connection makes
 * no crowd, but counts in closers_has_too_many(). If HANDOVER_FULL descriptors of all accounts
 * together wait, the main thread closes it itself if that waits for nothing. The closers may have
 * no CPU while the main thread has one and clients keep coming and leaving. The client's end is
 * closed, so it has no watchers to be woken.
 */
void closers_close_served(struct closers *closers, unsigned account, int *fd);

/* Closes *@fd, a connection of @account that was not answered, and sets it to -1. The main thread
 * closes it itself if that waits for nothing, or if HANDOVER_FULL descriptors of @account wait. */
void closers_turn_away(struct closers *closers, unsigned account, int *fd);

/* Takes *@fd, a doorbell of @account, out of the epoll @epoll_fd, closes it and sets it to -1. */
void closers_close_doorbell(struct closers *closers, unsigned account, int epoll_fd, int *fd);

/* Wakes a thread to close what was handed over. After many closes this happens by itself. */
void closers_hand_over(struct closers *closers);

/* True: a close of @account has taken so long that it counts as hanging, or more doorbells of
 * @account wait to be closed than any honest account has. */
bool closers_hang(const struct closers *closers, unsigned account);

/* True: HANDOVER_CROWD descriptors of @account, or more, wait to be closed. */
bool closers_has_crowd(const struct closers *closers, unsigned account);

/*
 * Does @account, which has @n_open connections, have as many descriptors as it may? Each counts
 * once: a connection while it is open, and then until it is closed; a doorbell from when its user
 * leaves it. (Doorbells in use are in the number of peers that fit: server.c.) @most_open may be
 * open, and HANDOVER_FULL more may wait to be closed.
 */
bool closers_has_too_many(
	const struct closers *closers, unsigned account, unsigned n_open, unsigned most_open);

/* The number of descriptors that are not closed yet. */
unsigned closers_pending(const struct closers *closers);

/* Charges each account for what was closed since the last call, and frees the memory for it. A
 * close that is still under way is charged by a later call. */
void closers_charge(struct closers *closers, struct budget *budget);
