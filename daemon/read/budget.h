/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much CPU time one thread may spend for its users, and who pays: a reader its sweeps and
 * wake-ups, the main thread what it does for connections.
 *
 * All users together have one total, which earns `percent` of a CPU and saves up at most the burst.
 * While more than a quarter of the burst is left there is plenty: everybody is admitted, and nobody
 * keeps count. That quarter is the reserve. Out of it a user is admitted who has credit of its own.
 * Users who asked within the last second earn that credit in equal parts; idle ones earn nothing
 * and cost the others nothing. So a user who asks without pause spends what it earns, and leaves
 * the reserve for thrifty ones. A user who has saved up credit may draw on the next earnings, too:
 * on the more of them, the more it has, and with all that can be saved up on as much as the reserve
 * is. So it waits for nobody who has just spent what was left, be it what that one had saved up.
 * Credit begins with nothing, so that coming under a new name collects nothing.
 *
 * A ring may also come too early: sooner than an interval after the last sweep, or after the last
 * sweep that answered this user. It waits in the same way.
 *
 * Accounts are known by number: what they stand for is said in accounts.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* As the site has configured it. */
struct budget_rules {
	uint32_t percent;  /* of one CPU, for all users together */
	uint32_t burst_ms; /* at most this much is saved up */
	uint32_t min_interval_ms;
	uint32_t min_interval_per_user_ms;
};

/* What one user has. All zero: never seen. */
struct budget_account {
	int64_t credit_ns;
	uint64_t as_of_ns;     /* of the credit, CLOCK_MONOTONIC */
	uint64_t asked_ns;     /* when it last asked; 0: not within the last second */
	uint64_t swept_ns;     /* begin of the last sweep that answered it; 0: none */
	bool counts;           /* there is no plenty: charges reduce its credit */
	uint32_t older, newer; /* of those who asked within the last second, by when */
};

struct budget {
	struct budget_rules rules; /* may be changed at any time */
	int64_t least_ns;          /* of the total: the debt that all wait for at most; 0: any */
	int64_t total_ns;
	uint64_t as_of_ns; /* of the total; 0: not asked yet */
	uint64_t swept_ns; /* begin of the last sweep; 0: none */
	uint64_t sweep_cost_ns;
	uint32_t oldest, newest, n_active; /* who asked within the last second */
	struct budget_account *accounts;   /* owned */
};

/* For accounts 0 .. n_accounts - 1. 0, -ENOMEM. */
int budget_init(struct budget *budget, const struct budget_rules *rules, unsigned n_accounts);
void budget_done(struct budget *budget);

/* @account stands for another user from now on. */
void budget_forget(struct budget *budget, unsigned account);

/* A user who was charged as @from is charged as @to from now on: its interval goes on there. */
void budget_move(struct budget *budget, unsigned from, unsigned to);

/* @account asks for something that will be charged. 0: it is admitted; else how many ns it has to
 * wait, unless others make that longer: ask again then. */
uint64_t budget_ask(struct budget *budget, unsigned account, uint64_t now_ns);

/*
 * Likewise, for one client alone. If nobody else asks, it waits until it has earned some sweeps in
 * a row: to be put off and woken costs as much as two of those.
 */
uint64_t budget_ask_for_some(struct budget *budget, unsigned account, uint64_t now_ns);

/* Likewise, for something that is no sweep: no interval matters. */
uint64_t budget_ask_within_intervals(struct budget *budget, unsigned account, uint64_t now_ns);

/*
 * May @account, which waits, be answered by a sweep that another one is admitted to? It may be in
 * debt by the cost of a sweep then, so that users who wait together pay and are answered together;
 * but it draws on the next earnings no more than alone, for waking its clients may cost much more.
 */
bool budget_may_join(struct budget *budget, unsigned account, uint64_t now_ns);

/* A sweep began at @begin_ns and cost @cost_ns, the wake-ups apart. */
void budget_swept(struct budget *budget, uint64_t begin_ns, uint64_t cost_ns);

/* That sweep answers @account. */
void budget_answered(struct budget *budget, unsigned account);

void budget_charge(struct budget *budget, unsigned account, uint64_t cost_ns);

/*
 * The same for what could not be made to wait, such as a client that comes: nobody else may have to
 * wait for it, so it never puts the total in debt; and the account's debt has the burst as its
 * limit.
 */
void budget_charge_unasked(struct budget *budget, unsigned account, uint64_t cost_ns);
