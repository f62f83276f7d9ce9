/* SPDX-License-Identifier: BSD-3-Clause */
/* The budget in exact numbers: 10 % of a CPU is 5 % for the pool and 5 % shared evenly. */
#include "daemon/budget.h"
#include "tests/test.h"

static const uint64_t MS = 1000000;

/* Lets one doorbell ring whenever it may for @wall_ns; returns the sweep time it bought. */
static uint64_t ring_without_pause(struct budget *budget, struct credit *share, unsigned n,
	uint64_t begin_ns, uint64_t wall_ns, uint64_t cost_ns)
{
	uint64_t now = begin_ns, spent_ns = 0;

	while (now < begin_ns + wall_ns) {
		uint64_t wait_ns = budget_wait_ns(budget, share, n, now);

		now += wait_ns;
		if (wait_ns)
			continue;
		now += cost_ns;
		spent_ns += cost_ns;
		if (!budget_pool_pays(budget, cost_ns))
			budget_share_pays(share, cost_ns, 1);
	}
	return spent_ns;
}

static void a_flood_buys_its_budget_and_a_burst(void **state)
{
	struct budget budget;
	struct credit share;
	uint64_t spent_ns;

	(void)state;
	budget_init(&budget, 10, 100, 0);
	share = budget_share(&budget, 1, 0);
	spent_ns = ring_without_pause(&budget, &share, 1, 0, 10000 * MS, 45000);
	/* 10 s at 10 %, a burst of 100 ms, and at most one sweep over. */
	assert_in_range(spent_ns, 1090 * MS, 1101 * MS);
}

static void a_flood_leaves_a_neighbour_its_share(void **state)
{
	struct budget budget;
	struct credit flood, neighbour;

	(void)state;
	budget_init(&budget, 10, 100, 0);
	flood = budget_share(&budget, 2, 0);
	neighbour = budget_share(&budget, 2, 0);
	ring_without_pause(&budget, &flood, 2, 0, 10000 * MS, 45000);
	assert_int_equal(budget_wait_ns(&budget, &neighbour, 2, 10000 * MS), 0);
}

static void waits_no_longer_than_it_must(void **state)
{
	struct budget budget;
	struct credit share;
	uint64_t wait_ns;

	(void)state;
	budget_init(&budget, 10, 2, 0);
	share = budget_share(&budget, 1, 0);
	assert_true(budget_pool_pays(&budget, 2 * MS));
	budget_share_pays(&share, 2 * MS, 1);
	/* Both stand at -1 ms and earn 1 ns in 20 ns. */
	wait_ns = budget_wait_ns(&budget, &share, 1, 0);
	assert_int_equal(wait_ns, (1 * MS + 1) * 20);
	assert_int_equal(budget_wait_ns(&budget, &share, 1, wait_ns), 0);
}

static void saves_up_no_more_than_the_burst(void **state)
{
	struct budget budget;
	struct credit share;

	(void)state;
	budget_init(&budget, 100, 100, 0);
	share = budget_share(&budget, 4, 0);
	assert_int_equal(budget_wait_ns(&budget, &share, 4, 3600000 * MS), 0);
	assert_int_equal(budget.pool.left_ns, 50 * MS);
	assert_int_equal(share.left_ns, 50 * MS / 4);
}

static void those_who_ring_together_pay_in_equal_parts(void **state)
{
	struct credit share = { .left_ns = 1000 };

	(void)state;
	budget_share_pays(&share, 64000, 64);
	assert_int_equal(share.left_ns, 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("a doorbell rung without pause buys the budget and one burst",
			a_flood_buys_its_budget_and_a_burst),
		CASE("a flood leaves its neighbour's share alone",
			a_flood_leaves_a_neighbour_its_share),
		CASE("the wait ends when there is credit", waits_no_longer_than_it_must),
		CASE("no more than the burst is saved up", saves_up_no_more_than_the_burst),
		CASE("a shared sweep is paid for in equal parts",
			those_who_ring_together_pay_in_equal_parts),
	};

	return cmocka_run_group_tests_name("budget", cases, NULL, NULL);
}
