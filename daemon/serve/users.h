/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all clients of one uid share: a doorbell for each socket, and the memory where they sleep
 * until their sweep is there (struct page_wakeup of common/page.h). So 576 ranks of a job are one
 * user with as many doorbells as there are sockets. Another user has no descriptor of either, so
 * nobody of it rings, or is woken, at this one's expense. The memory is protected as the page is.
 *
 * When the last client has gone, the user stays, for the next one to find: coming and going costs
 * no descriptor, and a client that keeps what it was given keeps the same thing again. The users
 * that are away longest go when there are more than USERS_AWAY_MAX.
 *
 * A user's place in the table is that of its doorbells in every reader.
 */
#pragma once

#include <stdint.h>

#include "common/page.h"
#include "daemon/read/doorbells.h"
#include "daemon/read/reader.h"
#include "daemon/serve/closers.h"

enum { USERS_MAX = DOORBELLS_PLACES, USERS_AWAY_MAX = 64 };

struct user {
	unsigned place;
	uint32_t uid;
	unsigned account;
	unsigned n_clients;
	uint64_t left_ns;    /* when the last one went */
	uint64_t renewed_ns; /* when it last got new doorbells */
	int wakeups_fd;      /* what clients get: n_readers of struct page_wakeup, and page_rules */
	struct page_wakeup *wakeups;
	int doorbells[PAGE_SOCKETS_MAX];
};

struct users {
	struct reader *readers; /* borrowed; one per socket */
	unsigned n_readers;
	struct closers *closers; /* borrowed */
	unsigned n, n_away;
	unsigned most_away;  /* USERS_AWAY_MAX, or fewer */
	uint32_t quantum;    /* that they are told */
	struct rules rules;  /* ... and these */
	struct user **table; /* owned, USERS_MAX of them; NULL: a free place */
};

/* 0, -ENOMEM. */
int users_init(
	struct users *users, struct reader readers[], unsigned n_readers, struct closers *closers);
void users_done(struct users *users);

/*
 * A client of @uid comes, which is charged as @account: *@ret is the user, for users_leave(). 0,
 * -ENOMEM; -ENOSPC: there are USERS_MAX; errno of memfd_create(2), mmap(2), open(2), eventfd(2) and
 * epoll_ctl(2).
 */
int users_enter(struct users *users, uint32_t uid, unsigned account, struct user **ret);
void users_leave(struct users *users, struct user *user);

/*
 * Gives @user new doorbells, since the old ones are full; at most once a second, or else they are
 * new already. Errors as users_enter().
 */
int users_renew_doorbells(struct users *users, struct user *user);

/* Tells all, and those that come, what values are rounded down to, and who may connect. */
void users_tell(struct users *users, uint32_t quantum, const struct rules *rules);

/* @uid is charged as @account from now on. */
void users_set_account(struct users *users, uint32_t uid, unsigned account);

/* @account stands for another user from now on: lets go of those that were charged as it, and have
 * no client. */
void users_forget_account(struct users *users, unsigned account);

/* Lets go of the users that have no client. */
void users_drop_away(struct users *users);
