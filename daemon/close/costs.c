/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/close/costs.h"

#include "daemon/admit/accounts.h"

void costs_note(struct costs *costs, unsigned account, uint64_t ns)
{
	unsigned i = 0;

	while (i < costs->n && costs->of[i].account != account)
		i++;
	if (i == COSTS_MAX || account == ACCOUNTS_NONE)
		return;
	if (i == costs->n) {
		costs->n++;
		costs->of[i].account = account;
		costs->of[i].ns = 0;
	}
	costs->of[i].ns += ns;
}

void costs_charge(struct costs *costs, struct budget *budget)
{
	for (unsigned i = 0; i < costs->n; i++)
		budget_charge_unasked(budget, costs->of[i].account, costs->of[i].ns);
	costs->n = 0;
}
