/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPU time that one thread may spend on its users, and the accounts of the users that pay for
 * it. A reader spends it on sweeps and wake-ups, the main thread on connections. HOW USERS SHARE in
 * uncored-security(7) says what holds.
 *
 * All users together have one total, which saves up at most three quarters of the burst. While more
 * than a quarter of the burst is left, there is *plenty*; that last quarter is the *reserve*. A
 * user with saved credit may draw on the next earnings, which puts the total into debt, so it does
 * not have to wait because another user has just spent the rest. A ring that comes sooner than the
 * site's intervals permit waits in the same way.
 *
 * Accounts have numbers. accounts.h says what each number stands for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* As the site has configured it. */
struct budget_rules {
	uint32_t percent;  /* of one CPU, for all users together */
	uint32_t burst_ms; /* the bound on savings and debt: see above */
	uint32_t min_interval_ms;
	uint32_t min_interval_per_user_ms;
};

/* The state of one account. All zero: never seen. */
struct budget_account {
	int64_t credit_ns;
	uint64_t as_of_ns;     /* when the credit was last updated, CLOCK_MONOTONIC */
	uint64_t asked_ns;     /* when it last asked; 0: not within the last second */
	uint64_t swept_ns;     /* begin of the last sweep that answered it; 0: none */
	bool counts;           /* there is no plenty: charges reduce its credit */
	uint32_t older, newer; /* neighbours by .asked_ns, within the last second */
	uint64_t charged_ns;   /* this and the following are only counted: see budget_use() */
	uint64_t n_answered;
	uint64_t n_put_off;
};

/* What an account has used, and what it owes. */
struct budget_use {
	uint64_t charged_ns; /* CPU time, all charges */
	uint64_t n_answered; /* sweeps that answered it */
	uint64_t n_put_off;  /* claims of it that had to wait for budget or interval */
	uint64_t debt_ns;    /* as of now; 0: none */
};

struct budget {
	struct budget_rules rules; /* may be changed at any time */
	int64_t least_ns; /* the least total, which bounds the wait for debt; 0: no limit */
	int64_t total_ns;
	uint64_t as_of_ns; /* when the total was last updated; 0: not asked yet */
	uint64_t swept_ns; /* begin of the last sweep; 0: none */
	uint64_t sweep_cost_ns;
	uint32_t n_active; /* accounts that asked within the last second, a ring by .older and
			      .newer */
	uint32_t ends;     /* the element of .accounts between the newest and the oldest of them */
	struct budget_account *accounts; /* owned */
};

/* For accounts 0 .. n_accounts - 1. 0, -ENOMEM. */
int budget_init(struct budget *budget, const struct budget_rules *rules, unsigned n_accounts);
void budget_done(struct budget *budget);

struct budget_use budget_use(const struct budget *budget, unsigned account, uint64_t now_ns);

/* @account stands for another user from now on. */
void budget_forget(struct budget *budget, unsigned account);

/* @account asks for something that will be charged. 0: it is admitted; otherwise the ns that it has
 * to wait. After the wait it must ask again, because others may have made the wait longer. */
uint64_t budget_ask(struct budget *budget, unsigned account, uint64_t now_ns);

/*
 * As budget_ask(), but @account waits only until its own debt is paid, or until there is plenty:
 * not for the debts of others, and for no interval. A request takes much longer than a sweep can,
 * so accounts with savings would keep the total in debt for long.
 */
uint64_t budget_ask_own(struct budget *budget, unsigned account, uint64_t now_ns);

/*
 * As budget_ask(), for a user with a single client. If no other user asks, it waits until it has
 * earned some sweeps in a row: putting a client off and waking it costs as much as two sweeps.
 */
uint64_t budget_ask_for_some(struct budget *budget, unsigned account, uint64_t now_ns);

/* As budget_ask(), for something other than a sweep: intervals do not matter. */
uint64_t budget_ask_ignoring_intervals(struct budget *budget, unsigned account, uint64_t now_ns);

/*
 * May a sweep also answer @account, which waits, if another account is admitted to it? @account may
 * then be in debt by the cost of a sweep, so that users that wait together pay together and are
 * answered together. But it draws on the next earnings no more than it would alone, because waking
 * its clients may cost much more than a sweep.
 */
bool budget_may_join(struct budget *budget, unsigned account, uint64_t now_ns);

/* A sweep began at @begin_ns and cost @cost_ns, without the wake-ups. */
void budget_swept(struct budget *budget, uint64_t begin_ns, uint64_t cost_ns);

/* A claim of @account has to wait. */
void budget_put_off(struct budget *budget, unsigned account);

/* The last sweep answers @account. */
void budget_answered(struct budget *budget, unsigned account);

void budget_charge(struct budget *budget, unsigned account, uint64_t cost_ns);

/*
 * As budget_charge(), for work that could not wait, such as a new client. Other users must not wait
 * because of that work, so it never puts the total into debt. It puts the account into debt by the
 * burst at most, and lessens no debt.
 */
void budget_charge_unasked(struct budget *budget, unsigned account, uint64_t cost_ns);
