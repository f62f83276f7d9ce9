/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accounts, by which budgets and limits are reckoned. An account is a uid with its subordinate ids,
 * so that nobody becomes many users by way of newuidmap(1); man pages call it a user. owners.h says
 * which account a uid belongs to. Here each known account has a number, below ACCOUNTS_MAX.
 *
 * When its last connection has gone, an account keeps its number, and with it its debts, until
 * another account needs the number.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/site/policy.h"

enum { ACCOUNTS_MAX = 16384, ACCOUNTS_NONE = UINT32_MAX };

struct peer;

struct account {
	unsigned n_peers;     /* connections */
	uint64_t left_ns;     /* when the last connection went */
	uint64_t unpark_ns;   /* when a peer that is parked may be read from again */
	struct peer *longest; /* of the parked peers; only during parking_on_wake() */
};

struct accounts {
	unsigned n;
	uint64_t *ids;                      /* owned, by number */
	struct account *accounts;           /* owned, by number */
	uint64_t (*refusals)[POLICY_RULES]; /* owned, by number and rule */
};

/* 0, -ENOMEM. */
int accounts_init(struct accounts *accounts);
void accounts_done(struct accounts *accounts);

/*
 * Returns the number of the account @id, a new one if it has none, or ACCOUNTS_NONE if all accounts
 * have connections. *@ret_is_new: the number is new to @id, and all that is known under it is void.
 */
unsigned accounts_find(struct accounts *accounts, uint64_t id, bool *ret_is_new);

void accounts_enter(struct accounts *accounts, unsigned number);
void accounts_leave(struct accounts *accounts, unsigned number, uint64_t now_ns);

/* The account with the most connections; there must be an account. */
unsigned accounts_largest(const struct accounts *accounts);
