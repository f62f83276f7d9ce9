/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A user: all clients of one uid that are charged as one account. They share a doorbell for each
 * socket, and the memory on which they sleep until their sweep is made (struct page_wakeup of
 * common/page.h). So 576 ranks of a job are one user with as many doorbells as there are sockets.
 * Other users have no descriptors of these doorbells and this memory, so their clients neither ring
 * nor are woken at the expense of this user. The memory is protected like the page.
 *
 * When its last client has gone, the user stays for the next client. So coming and going costs no
 * descriptors, and a client that keeps its descriptors gets the same ones again. If more than
 * users.most_away users have no client, the ones that have been without clients for the longest
 * time are freed.
 *
 * A user's place in the table is also the place of its doorbells in every reader.
 */
#pragma once

#include <stdint.h>

#include "common/page.h"
#include "daemon/close/closers.h"
#include "daemon/read/doorbells.h"
#include "daemon/read/reader.h"

enum { USERS_MAX = DOORBELLS_PLACES, USERS_AWAY_MAX = 64 };

struct user {
	unsigned place;
	uint32_t uid;
	unsigned account;
	unsigned n_clients;
	uint64_t left_ns;    /* when the last client went */
	uint64_t renewed_ns; /* when it last got new doorbells */
	int wakeups_fd;      /* given to clients: n_readers of struct page_wakeup, and page_rules */
	struct page_wakeup *wakeups;
	int doorbells[PAGE_SOCKETS_MAX];
};

struct users {
	struct reader *readers; /* borrowed; one per socket */
	unsigned n_readers;
	struct closers *closers; /* borrowed */
	unsigned n, n_away, n_clients;
	unsigned most_away;     /* USERS_AWAY_MAX, or fewer */
	uint32_t quantum;       /* told to the users */
	struct rules rules;     /* told to the users, too */
	struct user **table;    /* owned, USERS_MAX of them; NULL: a free place */
	uint16_t *n_of_account; /* owned: how many users each account has */
};

/* 0, -ENOMEM. */
int users_init(
	struct users *users, struct reader readers[], unsigned n_readers, struct closers *closers);
void users_done(struct users *users);

/*
 * Adds a client of @uid, which is charged as @account. *@ret is its user, for users_leave(). 0,
 * -ENOMEM; -ENOSPC: there are USERS_MAX users; errno of memfd_create(2), mmap(2), open(2),
 * eventfd(2) and epoll_ctl(2).
 */
int users_enter(struct users *users, uint32_t uid, unsigned account, struct user **ret);
void users_leave(struct users *users, struct user *user);

/* Gives @user new doorbells, because the old ones are full. Does nothing if the last renewal was
 * less than a second ago. Errors as users_enter(). */
int users_renew_doorbells(struct users *users, struct user *user);

/* Tells all users, also those that come later, the quantum to which values are rounded down and the
 * rules for connecting. */
void users_tell(struct users *users, uint32_t quantum, const struct rules *rules);

/* Is a user charged as @account? It takes no look at the users, because a new account may ask for
 * each of the others. */
bool users_have_account(const struct users *users, unsigned account);

/* Frees the users that have no client. */
void users_drop_away(struct users *users);
