/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/admit/accounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int accounts_init(struct accounts *a)
{
	*a = (struct accounts){
		.ids = calloc(ACCOUNTS_MAX, sizeof *a->ids),
		.accounts = calloc(ACCOUNTS_MAX, sizeof *a->accounts),
		.refusals = calloc(ACCOUNTS_MAX, sizeof *a->refusals),
	};
	return a->ids && a->accounts && a->refusals ? 0 : -ENOMEM;
}

void accounts_done(struct accounts *a)
{
	free(a->ids);
	free(a->accounts);
	free(a->refusals);
	*a = (struct accounts){};
}

/* The account that has been without connections for the longest, and is not held; or ACCOUNTS_NONE.
 */
static unsigned find_deserted(const struct accounts *a)
{
	unsigned found = ACCOUNTS_NONE;

	for (unsigned i = 0; i < a->n; i++)
		if (!a->accounts[i].n_peers &&
			(found == ACCOUNTS_NONE ||
				a->accounts[i].left_ns < a->accounts[found].left_ns) &&
			!(a->is_held && a->is_held(a->holder, i)))
			found = i;
	return found;
}

unsigned accounts_find(struct accounts *a, uint64_t id, bool *ret_is_new)
{
	unsigned number;

	*ret_is_new = false;
	for (number = 0; number < a->n; number++)
		if (a->ids[number] == id)
			return number;
	number = a->n < ACCOUNTS_MAX ? a->n++ : find_deserted(a);
	if (number == ACCOUNTS_NONE)
		return number;
	a->ids[number] = id;
	a->accounts[number] = (struct account){};
	memset(a->refusals[number], 0, sizeof a->refusals[number]);
	*ret_is_new = true;
	return number;
}

void accounts_enter(struct accounts *a, unsigned number)
{
	a->accounts[number].n_peers++;
}

void accounts_leave(struct accounts *a, unsigned number, uint64_t now_ns)
{
	a->accounts[number].n_peers--;
	a->accounts[number].left_ns = now_ns;
}

unsigned accounts_largest(const struct accounts *a)
{
	unsigned largest = 0;

	for (unsigned i = 1; i < a->n; i++)
		if (a->accounts[i].n_peers > a->accounts[largest].n_peers)
			largest = i;
	return largest;
}
