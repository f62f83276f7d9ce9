/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/budget.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int budget_init(struct budget *budget, uint32_t percent, uint32_t burst_ms, unsigned max_accounts)
{
	*budget = (struct budget){
		.percent = percent,
		.burst_ns = burst_ms * UINT64_C(1000000),
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

unsigned budget_enter(struct budget *budget, uint32_t uid, uint64_t now_ns)
{
	unsigned index = find_account(budget, uid);
	struct account *account = &budget->accounts[index];

	if (!account->as_of_ns)
		*account = (struct account){ .uid = uid, .as_of_ns = now_ns };
	if (account->n_doorbells++ == 0)
		budget->n_users++;
	return index;
}

void budget_leave(struct budget *budget, unsigned account)
{
	if (--budget->accounts[account].n_doorbells == 0)
		budget->n_users--;
}

/* 1 ns is earned in 100 * n_users / percent ns. Only whole ones are; the rest waits in as_of_ns. */
static void earn(const struct budget *budget, struct account *account, uint64_t now_ns)
{
	uint64_t parts = 100 * (uint64_t)budget->n_users;
	uint64_t earned_ns = (now_ns - account->as_of_ns) * budget->percent / parts;
	int64_t most_ns = (int64_t)(budget->burst_ns / budget->n_users);

	account->as_of_ns += (earned_ns * parts + budget->percent - 1) / budget->percent;
	account->left_ns += (int64_t)earned_ns;
	if (account->left_ns > most_ns)
		account->left_ns = most_ns;
}

uint64_t budget_ring(struct budget *budget, unsigned index, uint64_t now_ns)
{
	struct account *account = &budget->accounts[index];

	account->n_rang++;
	earn(budget, account, now_ns);
	if (account->left_ns > 0)
		return 0;
	return ((uint64_t)(1 - account->left_ns) * 100 * budget->n_users + budget->percent - 1) /
	       budget->percent;
}

void budget_charge(struct budget *budget, uint64_t cost_ns)
{
	unsigned n_rang = 0;

	for (unsigned i = 0; i < budget->n_accounts; i++)
		n_rang += budget->accounts[i].n_rang;
	for (unsigned i = 0; i < budget->n_accounts; i++) {
		struct account *account = &budget->accounts[i];

		if (account->n_rang)
			account->left_ns -= (int64_t)(cost_ns * account->n_rang / n_rang);
		account->n_rang = 0;
	}
}
