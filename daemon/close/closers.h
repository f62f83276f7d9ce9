/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closes connections and doorbells, as HOW USERS SHARE in uncored-security(7) says: those whose
 * close may hang by detached threads, one for each account that has any, all others by the main
 * thread (costly.h). A close of a doorbell hangs where the client keeps the mutex of an epoll that
 * watches it locked, with a page fault that it holds open; that of a connection, where a file
 * attached to a message hangs. A connection whose client has not received all that was sent to it
 * stays open until it has (unread.h).
 *
 * There are two counts of descriptors that wait, because the ranks of a job, which were served,
 * leave all at once while the next ones come: they count only together with the connections that
 * are open, all others also alone. One kind counts for no account: sockets that are turned away
 * beyond the bound, hold files, and wait for a helper thread that cannot be started; a machine
 * without room for a thread has other cares.
 */
#pragma once

#include <stdbool.h>

#include "daemon/read/budget.h"

enum { CLOSERS_MAX = 64 };

/* The most descriptors of an account that may wait to be closed while newcomers of it are let in;
 * fewer if the limit of open files is low. */
enum { CLOSERS_WAITING_MAX = 128 };

struct closers;

/* Reads the limit of open files. -ENOMEM, errno of epoll_create1(2). */
int closers_new(struct closers **ret);

/* Waits, for some seconds at most, until everything is closed that can be closed at once. A thread
 * that hangs stays until the process ends, and @closers is not freed then. @closers may be NULL.
 * Returns NULL. */
struct closers *closers_free(struct closers *closers);

struct closers_client {
	bool was_served;     /* it was welcomed, and has left */
	bool was_sent_files; /* with messages, which it must receive before its connection is closed
			      */
};

/*
 * Shuts down and closes *@fd, a connection of @account, and sets it to -1. If its client has not
 * received files that were sent to it, it stays open until it has, and counts as one that was
 * refused. ACCOUNTS_NONE is charged for nothing, and is an account for all else here.
 */
void closers_close_connection(
	struct closers *closers, unsigned account, struct closers_client client, int *fd);

/* Readable when there is something to settle: an epoll of those that stay open. */
int closers_poll_fd(const struct closers *closers);

/* To wake a client of @account was costly, so the main thread closes no connection of it for a
 * minute. */
void closers_beware(struct closers *closers, unsigned account);

/* Does a descriptor of @account wait to be closed? */
bool closers_hold(const struct closers *closers, unsigned account);

/* @account, which they do not hold, stands for somebody else from now on: its closes are not costly
 * any more. */
void closers_forget(struct closers *closers, unsigned account);

/* As closers_close_connection(), for one that was not answered. Its client had hardly time to make
 * its close costly, so the main thread closes it if that waits for nothing, also if too many wait.
 */
void closers_turn_away(struct closers *closers, unsigned account, int *fd);

/* Takes *@fd, a doorbell of @account, out of the epoll @epoll_fd, closes it and sets it to -1. */
void closers_close_doorbell(struct closers *closers, unsigned account, int epoll_fd, int *fd);

/* True: a close of @account has taken so long that it counts as hanging. */
bool closers_hang(const struct closers *closers, unsigned account);

/*
 * True: CLOSERS_WAITING_MAX descriptors of @account or more wait to be closed, without those of
 * clients that were served; or all that wait and the @n_open open connections are as many more than
 * @most_open.
 */
bool closers_have_too_many(
	const struct closers *closers, unsigned account, unsigned n_open, unsigned most_open);

/* The number of descriptors that are not closed yet. */
unsigned closers_pending(const struct closers *closers);

/* Of these, those that wait for their clients, not for a thread. */
unsigned closers_unread(const struct closers *closers);

/*
 * To be called now and then: closes what clients have received by now, charges each account for
 * what its thread has closed since the last call, and frees the memory for it; starts the threads
 * that could not be started before. A close that is still under way is charged by a later call.
 * @budget NULL: charges nobody.
 */
void closers_settle(struct closers *closers, struct budget *budget);
