/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/read/budget.h"

#include <errno.h>
#include <stdlib.h>

#include "common/bounds.h"
#include "common/clock.h"

static const uint64_t ACTIVE_NS = 1000000000;

enum {
	MORE_IN_A_ROW = 3, /* sweeps for a client that is alone */
	RESERVE_PARTS = 4, /* a quarter of the burst is kept for users with credit */
	COSTS_AVERAGED = 8,
};

int budget_init(struct budget *budget, const struct budget_rules *rules, unsigned n_accounts)
{
	*budget = (struct budget){
		.rules = *rules,
		.ends = n_accounts,
		.accounts = calloc(n_accounts + 1, sizeof(struct budget_account)),
	};
	if (!budget->accounts)
		return -ENOMEM;
	budget->accounts[n_accounts].older = budget->accounts[n_accounts].newer = n_accounts;
	return 0;
}

void budget_done(struct budget *budget)
{
	free(budget->accounts);
	*budget = (struct budget){};
}

/* --- accounts that asked within the last second --- */

static void unlink_active(struct budget *budget, uint32_t index)
{
	struct budget_account *account = &budget->accounts[index];

	budget->accounts[account->older].newer = account->newer;
	budget->accounts[account->newer].older = account->older;
	account->asked_ns = 0;
	budget->n_active--;
}

static void link_newest(struct budget *budget, uint32_t index, uint64_t now_ns)
{
	struct budget_account *account = &budget->accounts[index];
	struct budget_account *ends = &budget->accounts[budget->ends];

	account->asked_ns = now_ns;
	account->older = ends->older;
	account->newer = budget->ends;
	budget->accounts[ends->older].newer = index;
	ends->older = index;
	budget->n_active++;
}

static void note_active(struct budget *budget, uint32_t index, uint64_t now_ns)
{
	const struct budget_account *ends = &budget->accounts[budget->ends];

	if (budget->accounts[index].asked_ns)
		unlink_active(budget, index);
	link_newest(budget, index, now_ns);
	while (now_ns - budget->accounts[ends->newer].asked_ns > ACTIVE_NS)
		unlink_active(budget, ends->newer);
}

void budget_forget(struct budget *budget, unsigned index)
{
	if (budget->accounts[index].asked_ns)
		unlink_active(budget, index);
	budget->accounts[index] = (struct budget_account){};
}

/* --- earning --- */

static int64_t burst_ns(const struct budget *budget)
{
	return (int64_t)(budget->rules.burst_ms * CLOCK_NS_PER_MS);
}

static int64_t reserve_ns(const struct budget *budget)
{
	return burst_ns(budget) / RESERVE_PARTS;
}

/* The rest of the burst is the debt that thrifty users may run up. */
static int64_t most_total_ns(const struct budget *budget)
{
	return burst_ns(budget) - reserve_ns(budget);
}

/*
 * Earns percent / @parts of the time since *@as_of_ns. Only whole ns are earned; the rest stays in
 * *@as_of_ns.
 */
static void earn(const struct budget_rules *rules, int64_t *balance_ns, uint64_t *as_of_ns,
	uint64_t parts, uint64_t now_ns)
{
	uint64_t earned_ns = (now_ns - *as_of_ns) * rules->percent / parts;

	*as_of_ns += (earned_ns * parts + rules->percent - 1) / rules->percent;
	*balance_ns += (int64_t)earned_ns;
}

static void limit(int64_t *balance_ns, int64_t most_ns)
{
	if (*balance_ns > most_ns)
		*balance_ns = most_ns;
}

/* The time until earnings raise @balance_ns above @wanted_ns. */
static uint64_t earning_ns(
	const struct budget *budget, int64_t balance_ns, int64_t wanted_ns, uint64_t parts)
{
	uint32_t percent = budget->rules.percent;

	if (balance_ns > wanted_ns)
		return 0;
	return ((uint64_t)(wanted_ns + 1 - balance_ns) * parts + percent - 1) / percent;
}

/* The divisor of the percentage that an account earns, for earn(): users earn in equal parts. */
static uint64_t share_parts(const struct budget *budget)
{
	return 100 * (uint64_t)(budget->n_active ? budget->n_active : 1);
}

static void bring_up_to_date(struct budget *budget, struct budget_account *account, uint64_t now_ns)
{
	if (!budget->as_of_ns) {
		budget->as_of_ns = now_ns;
		budget->total_ns = most_total_ns(budget);
	}
	if (!account->as_of_ns)
		account->as_of_ns = now_ns;
	earn(&budget->rules, &budget->total_ns, &budget->as_of_ns, 100, now_ns);
	limit(&budget->total_ns, most_total_ns(budget));
	earn(&budget->rules, &account->credit_ns, &account->as_of_ns, share_parts(budget), now_ns);
	limit(&account->credit_ns, burst_ns(budget));
}

struct budget_use budget_use(const struct budget *budget, unsigned index, uint64_t now_ns)
{
	struct budget_account account = budget->accounts[index];

	if (account.as_of_ns)
		earn(&budget->rules, &account.credit_ns, &account.as_of_ns, share_parts(budget),
			now_ns);
	return (struct budget_use){
		.charged_ns = account.charged_ns,
		.n_answered = account.n_answered,
		.n_put_off = account.n_put_off,
		.debt_ns = account.credit_ns < 0 ? (uint64_t)-account.credit_ns : 0,
	};
}

/* --- asking --- */

static bool has_plenty(const struct budget *budget)
{
	return budget->total_ns > reserve_ns(budget);
}

/*
 * The total must be above this when a user is admitted. The more credit the user has, the lower
 * this is, down to a debt as large as the reserve. So a user that spends its savings leaves
 * something for users with more credit.
 */
static int64_t least_total_ns(const struct budget_account *account)
{
	return account->credit_ns > 0 ? -account->credit_ns / RESERVE_PARTS : 0;
}

static uint64_t plenty_wait_ns(const struct budget *budget)
{
	return earning_ns(budget, budget->total_ns, reserve_ns(budget), 100);
}

/* The wait until there is plenty, or until the user has credit and the total is high enough. */
static uint64_t credit_wait_ns(const struct budget *budget, const struct budget_account *account)
{
	uint64_t total_ns = earning_ns(budget, budget->total_ns, least_total_ns(account), 100);
	uint64_t own_ns = earning_ns(budget, account->credit_ns, 0, share_parts(budget));

	return least_of(plenty_wait_ns(budget), most_of(total_ns, own_ns));
}

static uint64_t interval_wait_ns(uint64_t swept_ns, uint32_t interval_ms, uint64_t now_ns)
{
	uint64_t due_ns = swept_ns + interval_ms * CLOCK_NS_PER_MS;

	return swept_ns && due_ns > now_ns ? due_ns - now_ns : 0;
}

static void note_asking(struct budget *budget, unsigned index, uint64_t now_ns)
{
	struct budget_account *account = &budget->accounts[index];

	note_active(budget, index, now_ns);
	bring_up_to_date(budget, account, now_ns);
	account->counts = !has_plenty(budget);
}

uint64_t budget_ask_ignoring_intervals(struct budget *budget, unsigned index, uint64_t now_ns)
{
	note_asking(budget, index, now_ns);
	return credit_wait_ns(budget, &budget->accounts[index]);
}

uint64_t budget_ask(struct budget *budget, unsigned index, uint64_t now_ns)
{
	struct budget_account *account = &budget->accounts[index];
	const struct budget_rules *rules = &budget->rules;
	uint64_t wait_ns = budget_ask_ignoring_intervals(budget, index, now_ns);

	wait_ns = most_of(
		wait_ns, interval_wait_ns(budget->swept_ns, rules->min_interval_ms, now_ns));
	return most_of(wait_ns,
		interval_wait_ns(account->swept_ns, rules->min_interval_per_user_ms, now_ns));
}

uint64_t budget_ask_own(struct budget *budget, unsigned index, uint64_t now_ns)
{
	note_asking(budget, index, now_ns);
	return least_of(plenty_wait_ns(budget),
		earning_ns(budget, budget->accounts[index].credit_ns, -1, share_parts(budget)));
}

uint64_t budget_ask_for_some(struct budget *budget, unsigned index, uint64_t now_ns)
{
	uint64_t wait_ns = budget_ask(budget, index, now_ns);
	uint64_t credit_ns = credit_wait_ns(budget, &budget->accounts[index]);
	int64_t more_ns = (int64_t)(budget->sweep_cost_ns * MORE_IN_A_ROW);

	if (!credit_ns || budget->n_active > 1)
		return wait_ns;
	return most_of(wait_ns, credit_ns + earning_ns(budget, 0, more_ns, 100));
}

bool budget_may_join(struct budget *budget, unsigned index, uint64_t now_ns)
{
	struct budget_account *account = &budget->accounts[index];
	int64_t debt_ns = (int64_t)budget->sweep_cost_ns;

	bring_up_to_date(budget, account, now_ns);
	account->counts = !has_plenty(budget);
	return !account->counts || (account->credit_ns > -debt_ns &&
					   budget->total_ns > least_total_ns(account) - debt_ns);
}

/* --- spending --- */

void budget_swept(struct budget *budget, uint64_t begin_ns, uint64_t cost_ns)
{
	budget->swept_ns = begin_ns;
	budget->sweep_cost_ns =
		(budget->sweep_cost_ns * (COSTS_AVERAGED - 1) + cost_ns) / COSTS_AVERAGED;
}

void budget_put_off(struct budget *budget, unsigned index)
{
	budget->accounts[index].n_put_off++;
}

void budget_answered(struct budget *budget, unsigned index)
{
	budget->accounts[index].swept_ns = budget->swept_ns;
	budget->accounts[index].n_answered++;
}

static void charge_account(struct budget_account *account, uint64_t cost_ns)
{
	account->charged_ns += cost_ns;
	if (account->counts)
		account->credit_ns -= (int64_t)cost_ns;
}

void budget_charge(struct budget *budget, unsigned index, uint64_t cost_ns)
{
	budget->total_ns -= (int64_t)cost_ns;
	if (budget->least_ns && budget->total_ns < budget->least_ns)
		budget->total_ns = budget->least_ns;
	charge_account(&budget->accounts[index], cost_ns);
}

void budget_charge_unasked(struct budget *budget, unsigned index, uint64_t cost_ns)
{
	struct budget_account *account = &budget->accounts[index];
	int64_t least_ns =
		account->credit_ns < -burst_ns(budget) ? account->credit_ns : -burst_ns(budget);
	uint64_t paid_ns = 0;

	if (budget->total_ns > 0)
		paid_ns = least_of(cost_ns, (uint64_t)budget->total_ns);
	account->counts |= paid_ns < cost_ns;
	budget->total_ns -= (int64_t)paid_ns;
	charge_account(account, cost_ns);
	if (account->credit_ns < least_ns)
		account->credit_ns = least_ns;
}
