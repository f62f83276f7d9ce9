/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accounts: the units to which budgets and limits apply. An account is a uid with its subordinate
 * ids, so that nobody can become many users through newuidmap(1). Man pages call an account a user.
 * owners.h says which account a uid belongs to. Here each known account has a number below
 * ACCOUNTS_MAX.
 *
 * When its last connection is gone, an account keeps its number and its debts, until another
 * account needs the number, and nothing of the account is held under it any more.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/site/policy.h"

enum { ACCOUNTS_MAX = 16384, ACCOUNTS_NONE = UINT32_MAX };

struct peer;

struct account {
	unsigned n_peers;                        /* connections */
	uint64_t left_ns;                        /* when the last connection went */
	struct peer *first_parked, *last_parked; /* in the order in which they were parked */
	uint64_t due_ns;                         /* when the budget is asked again for these */
	uint64_t forgiven_at_ns; /* what its dear messages have cost, see conversation.c */
};

struct accounts {
	unsigned n;
	uint64_t *ids;                      /* owned, by number */
	struct account *accounts;           /* owned, by number */
	uint64_t (*refusals)[POLICY_RULES]; /* owned, by number and rule */
	/* Does the account still have something elsewhere, under its number? NULL: never. A new
	 * account may ask for each other one, so the answer costs no search. */
	bool (*is_held)(const void *holder, unsigned number);
	const void *holder;
};

/* 0, -ENOMEM. */
int accounts_init(struct accounts *accounts);
void accounts_done(struct accounts *accounts);

/*
 * Returns the number of the account @id, a new one if it has none, or ACCOUNTS_NONE if no number is
 * free and all accounts have connections or are held. *@ret_is_new: the number is new to @id, so
 * all that others have stored under the number is void.
 */
unsigned accounts_find(struct accounts *accounts, uint64_t id, bool *ret_is_new);

void accounts_enter(struct accounts *accounts, unsigned number);
void accounts_leave(struct accounts *accounts, unsigned number, uint64_t now_ns);

/* The account with the most connections; there must be at least one account. */
unsigned accounts_largest(const struct accounts *accounts);
