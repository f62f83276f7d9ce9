/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/budget.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t NS_PER_MS = 1000000;

enum { RECENT_WAKES = 4 };

int budget_init(struct budget *budget, const struct budget_rules *rules, unsigned max_accounts)
{
	*budget = (struct budget){
		.rules = *rules,
		.max_accounts = max_accounts,
		.accounts = calloc(max_accounts, sizeof(struct account)),
	};
	return budget->accounts ? 0 : -ENOMEM;
}

void budget_done(struct budget *budget)
{
	free(budget->accounts);
	*budget = (struct budget){};
}

int budget_reserve(struct budget *budget, unsigned max_accounts)
{
	struct account *grown;

	if (max_accounts <= budget->max_accounts)
		return 0;
	grown = reallocarray(budget->accounts, max_accounts, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	memset(&grown[budget->max_accounts], 0,
		(max_accounts - budget->max_accounts) * sizeof *grown);
	budget->accounts = grown;
	budget->max_accounts = max_accounts;
	return 0;
}

/* The account of @uid, a new one, or, where there is no more room, that of a user who has left. */
static unsigned find_account(struct budget *budget, uint32_t uid)
{
	unsigned i;

	for (i = 0; i < budget->n_accounts; i++)
		if (budget->accounts[i].uid == uid)
			return i;
	if (budget->n_accounts < budget->max_accounts)
		return budget->n_accounts++;
	for (i = 0; i < budget->n_accounts && budget->accounts[i].n_doorbells; i++)
		;
	assert(i < budget->n_accounts); /* else there were more doorbells than max_accounts */
	budget->accounts[i] = (struct account){};
	return i;
}

unsigned budget_enter(struct budget *budget, uint32_t uid, struct page_bell *bell, uint64_t now_ns)
{
	unsigned index = find_account(budget, uid);
	struct account *account = &budget->accounts[index];

	if (!account->as_of_ns)
		*account = (struct account){ .uid = uid, .as_of_ns = now_ns };
	if (account->n_doorbells++ == 0)
		budget->n_users++;
	account->bell = bell;
	return index;
}

void budget_leave(struct budget *budget, unsigned index)
{
	struct account *account = &budget->accounts[index];

	if (--account->n_doorbells)
		return;
	budget->n_users--;
	account->waits = false;
	account->bell = NULL;
}

/* 1 ns is earned in 100 * n_users / percent ns. Only whole ones are; the rest waits in as_of_ns. */
static void earn(const struct budget *budget, struct account *account, uint64_t now_ns)
{
	uint32_t percent = budget->rules.percent;
	uint64_t parts = 100 * (uint64_t)budget->n_users;
	uint64_t earned_ns = (now_ns - account->as_of_ns) * percent / parts;
	int64_t most_ns = (int64_t)(budget->rules.burst_ms * NS_PER_MS / budget->n_users);

	account->as_of_ns += (earned_ns * parts + percent - 1) / percent;
	account->left_ns += (int64_t)earned_ns;
	if (account->left_ns > most_ns)
		account->left_ns = most_ns;
}

static uint64_t credit_wait_ns(const struct budget *budget, const struct account *account)
{
	uint32_t percent = budget->rules.percent;

	if (account->left_ns > 0)
		return 0;
	return ((uint64_t)(1 - account->left_ns) * 100 * budget->n_users + percent - 1) / percent;
}

static uint64_t interval_wait_ns(uint64_t swept_ns, uint32_t interval_ms, uint64_t now_ns)
{
	uint64_t due_ns = swept_ns + interval_ms * NS_PER_MS;

	return swept_ns && due_ns > now_ns ? due_ns - now_ns : 0;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t budget_ring(struct budget *budget, unsigned index, uint64_t now_ns)
{
	struct account *account = &budget->accounts[index];
	const struct budget_rules *rules = &budget->rules;
	uint64_t wait_ns;

	account->n_rang++;
	account->waits = true;
	earn(budget, account, now_ns);
	wait_ns = credit_wait_ns(budget, account);
	wait_ns =
		longer(wait_ns, interval_wait_ns(budget->swept_ns, rules->min_interval_ms, now_ns));
	wait_ns = longer(wait_ns,
		interval_wait_ns(account->swept_ns, rules->min_interval_per_user_ms, now_ns));
	account->admitted |= !wait_ns;
	return wait_ns;
}

void budget_swept(struct budget *budget, uint64_t begin_ns)
{
	budget->swept_ns = begin_ns;
	for (unsigned i = 0; i < budget->n_accounts; i++) {
		struct account *account = &budget->accounts[i];

		if (account->admitted)
			account->swept_ns = begin_ns;
		account->admitted = false;
	}
}

struct account *budget_next_to_wake(struct budget *budget)
{
	struct account *next = NULL;

	for (unsigned i = 0; i < budget->n_accounts; i++) {
		struct account *account = &budget->accounts[i];

		if (account->waits && account->left_ns > 0 &&
			(!next || account->recent_wake_ns < next->recent_wake_ns))
			next = account;
	}
	if (next)
		next->waits = false;
	return next;
}

void budget_woke(struct account *account, uint64_t wake_ns)
{
	account->wake_ns += wake_ns;
	account->recent_wake_ns =
		(account->recent_wake_ns * (RECENT_WAKES - 1) + wake_ns) / RECENT_WAKES;
}

/* The clock went on if the thread had to wait for its CPU meanwhile: nobody pays more than was
 * spent. Returns what is left of @cost_ns. */
static uint64_t charge_wakes(struct budget *budget, uint64_t cost_ns)
{
	for (unsigned i = 0; i < budget->n_accounts; i++) {
		struct account *account = &budget->accounts[i];
		uint64_t own_ns = account->wake_ns < cost_ns ? account->wake_ns : cost_ns;

		account->left_ns -= (int64_t)own_ns;
		account->wake_ns = 0;
		cost_ns -= own_ns;
	}
	return cost_ns;
}

void budget_charge(struct budget *budget, uint64_t cost_ns)
{
	unsigned n_rang = 0;

	cost_ns = charge_wakes(budget, cost_ns);
	for (unsigned i = 0; i < budget->n_accounts; i++)
		n_rang += budget->accounts[i].n_rang;
	for (unsigned i = 0; i < budget->n_accounts; i++) {
		struct account *account = &budget->accounts[i];

		if (account->n_rang)
			account->left_ns -= (int64_t)(cost_ns * account->n_rang / n_rang);
		account->n_rang = 0;
	}
}
