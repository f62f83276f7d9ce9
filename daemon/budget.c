/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/budget.h"

/* A share of half the budget: 1 part of @parts. */
static int64_t part_of_burst_ns(const struct budget *budget, unsigned parts)
{
	return (int64_t)(budget->burst_ns / 2 / parts);
}

/* Earned per 200 * @parts ns of wall time, in ns; kept as a fraction to lose nothing to rounding.
 */
static void earn(
	const struct budget *budget, struct credit *credit, unsigned parts, uint64_t now_ns)
{
	uint64_t slice_ns = 200ULL * parts / budget->percent; /* of wall time, for 1 ns earned */
	uint64_t earned_ns = (now_ns - credit->as_of_ns) / slice_ns;
	int64_t most_ns = part_of_burst_ns(budget, parts);

	credit->as_of_ns += earned_ns * slice_ns;
	if ((int64_t)earned_ns > most_ns - credit->left_ns)
		credit->left_ns = most_ns;
	else
		credit->left_ns += (int64_t)earned_ns;
}

static uint64_t wait_ns(const struct budget *budget, const struct credit *credit, unsigned parts)
{
	return (uint64_t)(1 - credit->left_ns) * (200ULL * parts / budget->percent);
}

void budget_init(struct budget *budget, uint32_t percent, uint32_t burst_ms, uint64_t now_ns)
{
	budget->percent = percent;
	budget->burst_ns = burst_ms * UINT64_C(1000000);
	budget->pool = (struct credit){ part_of_burst_ns(budget, 1), now_ns };
}

struct credit budget_share(const struct budget *budget, unsigned n_doorbells, uint64_t now_ns)
{
	return (struct credit){ part_of_burst_ns(budget, n_doorbells), now_ns };
}

uint64_t budget_wait_ns(
	struct budget *budget, struct credit *share, unsigned n_doorbells, uint64_t now_ns)
{
	uint64_t pool_ns, share_ns;

	earn(budget, &budget->pool, 1, now_ns);
	earn(budget, share, n_doorbells, now_ns);
	if (budget->pool.left_ns > 0 || share->left_ns > 0)
		return 0;
	pool_ns = wait_ns(budget, &budget->pool, 1);
	share_ns = wait_ns(budget, share, n_doorbells);
	return pool_ns < share_ns ? pool_ns : share_ns;
}

bool budget_pool_pays(struct budget *budget, uint64_t cost_ns)
{
	if (budget->pool.left_ns <= 0)
		return false;
	budget->pool.left_ns -= (int64_t)cost_ns;
	return true;
}

void budget_share_pays(struct credit *share, uint64_t cost_ns, unsigned n_rang)
{
	share->left_ns -= (int64_t)(cost_ns / n_rang);
}
