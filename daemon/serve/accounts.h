/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accounts: what budgets and limits are reckoned by. A user is an account: a uid with its
 * subordinate ids, so that nobody becomes many by way of newuidmap(1). Which account a uid belongs
 * to is said by owners.h; here each account that is known has a number, below ACCOUNTS_MAX.
 *
 * An account keeps its number, and with it its debts, when its last connection has gone, until the
 * number is needed for another one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { ACCOUNTS_MAX = 16384, ACCOUNTS_NONE = UINT32_MAX };

struct peer;

struct account {
	unsigned n_peers;     /* connections */
	uint64_t left_ns;     /* when the last one went */
	unsigned n_parked;    /* of its peers */
	uint64_t unpark_ns;   /* when one of these may be read from again */
	struct peer *longest; /* that is parked; while these are looked at */
};

struct accounts {
	unsigned n;
	uint64_t *ids;            /* owned, by number */
	struct account *accounts; /* owned, by number */
};

/* 0, -ENOMEM. */
int accounts_init(struct accounts *accounts);
void accounts_done(struct accounts *accounts);

/*
 * The number of the account with this @id; a new one if there is none. Returns ACCOUNTS_NONE if all
 * have connections. *@ret_is_new: what was known under this number is another's, and void.
 */
unsigned accounts_find(struct accounts *accounts, uint64_t id, bool *ret_is_new);

void accounts_enter(struct accounts *accounts, unsigned number);
void accounts_leave(struct accounts *accounts, unsigned number, uint64_t now_ns);

/* The account with most connections; there must be one. */
unsigned accounts_largest(const struct accounts *accounts);
