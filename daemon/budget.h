/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a CPU the sweeps of one socket may take, and who pays.
 *
 * The budget is split evenly over the users that have doorbells here. Each saves up its share while
 * it does not ring, up to its part of the burst. Who rings is charged for all that the ring cost,
 * after it; credit may so go below zero, and then its doorbells wait. What one user spends is never
 * another's, however many connections it has; and it stays spent when they close.
 *
 * A sweep is shared by those who rang; waking its own waiters, of whom there may be thousands, is
 * each user's alone to pay. Who has been cheap to wake is woken before those who were not.
 *
 * A ring may also come too early: sooner than an interval after the last sweep, or after the last
 * sweep that a ring of this user was admitted to. It waits in the same way, and all that wait share
 * the sweep that is due. No ring waits longer for the intervals than the longer one of them: who is
 * due and not admitted then was answered by the sweep that came before.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"

struct account {
	uint32_t uid;
	unsigned n_doorbells; /* 0: kept for what it owes */
	unsigned n_rang;      /* since the last charge */
	bool admitted;        /* to the sweep that comes next */
	bool waits;           /* rang, and was not woken since */
	int64_t left_ns;
	uint64_t as_of_ns;       /* CLOCK_MONOTONIC */
	uint64_t swept_ns;       /* begin of the last sweep it was admitted to; 0: none */
	struct page_bell *bell;  /* while there are doorbells; borrowed */
	uint64_t wake_ns;        /* what waking took since the last charge */
	uint64_t recent_wake_ns; /* a moving average over its wake-ups */
};

/* As the site has configured it. */
struct budget_rules {
	uint32_t percent;  /* of one CPU, for all users together */
	uint32_t burst_ms; /* at most this much is saved up, by all together */
	uint32_t min_interval_ms;
	uint32_t min_interval_per_user_ms;
};

struct budget {
	struct budget_rules rules;
	uint64_t swept_ns; /* begin of the last sweep; 0: none */
	unsigned n_users;  /* accounts with doorbells */
	unsigned n_accounts, max_accounts;
	struct account *accounts; /* owned */
};

/* @max_accounts: as many as there may be doorbells. .rules may be changed later. 0, -ENOMEM. */
int budget_init(struct budget *budget, const struct budget_rules *rules, unsigned max_accounts);
void budget_done(struct budget *budget);

/* Makes room for so many accounts, if there is not. 0; -ENOMEM, and all is as it was. */
int budget_reserve(struct budget *budget, unsigned max_accounts);

/* A doorbell of @uid comes, whose clients all sleep on @bell: the index of the account that pays
 * for it. It begins with nothing. */
unsigned budget_enter(struct budget *budget, uint32_t uid, struct page_bell *bell, uint64_t now_ns);

/* One goes; with the last, @bell of budget_enter() is known no more. */
void budget_leave(struct budget *budget, unsigned account);

/* A ring: 0, it is admitted to the next sweep; else ask again after so many ns. */
uint64_t budget_ring(struct budget *budget, unsigned account, uint64_t now_ns);

/* A sweep began at @begin_ns, for those admitted to it, or for none. */
void budget_swept(struct budget *budget, uint64_t begin_ns);

/*
 * After a sweep: the next account whose waiters are to be woken, the cheapest first; NULL: that was
 * all. Who rang and can pay is woken; who cannot gets a sweep of its own when it can.
 */
struct account *budget_next_to_wake(struct budget *budget);
void budget_woke(struct account *account, uint64_t wake_ns);

/* Charges @cost_ns: waking to those who were woken, the rest in parts to those who rang since the
 * last charge. */
void budget_charge(struct budget *budget, uint64_t cost_ns);
