/* SPDX-License-Identifier: BSD-3-Clause */
/* The budget in exact numbers. */
#include "daemon/budget.h"
#include "tests/test.h"

enum { ACCOUNTS = 8, ALICE = 1000, BOB = 1001 };

static const uint64_t MS = 1000000, SWEEP_NS = 45000;

/* Rings whenever it may for @wall_ns; returns the sweep time that it got. */
static uint64_t ring_without_pause(
	struct budget *budget, unsigned account, uint64_t begin_ns, uint64_t wall_ns)
{
	uint64_t now = begin_ns, spent_ns = 0;

	while (now < begin_ns + wall_ns) {
		uint64_t wait_ns = budget_ring(budget, account, now);

		now += wait_ns;
		if (wait_ns)
			continue;
		now += SWEEP_NS;
		spent_ns += SWEEP_NS;
		budget_charge(budget, SWEEP_NS);
	}
	return spent_ns;
}

static void a_flood_gets_its_budget_and_no_more(void **state)
{
	static const uint32_t percents[] = { 1, 10, 41, 67, 99 };

	(void)state;
	for (unsigned i = 0; i < sizeof percents / sizeof *percents; i++) {
		uint64_t expected_ns = 10000 * MS * percents[i] / 100;
		struct budget budget;
		unsigned account;

		assert_int_equal(budget_init(&budget, percents[i], 100, ACCOUNTS), 0);
		account = budget_enter(&budget, ALICE, 1);
		assert_in_range(ring_without_pause(&budget, account, 1, 10000 * MS),
			expected_ns - expected_ns / 1000 - SWEEP_NS, expected_ns + SWEEP_NS);
		budget_done(&budget);
	}
}

static void what_is_saved_up_is_at_most_the_burst(void **state)
{
	struct budget budget;
	unsigned account;

	(void)state;
	assert_int_equal(budget_init(&budget, 10, 100, ACCOUNTS), 0);
	account = budget_enter(&budget, ALICE, 1);
	assert_int_equal(budget_ring(&budget, account, 3600000 * MS), 0);
	assert_int_equal(budget.accounts[account].left_ns, 100 * MS);
	budget_enter(&budget, BOB, 3600000 * MS);
	assert_int_equal(budget_ring(&budget, account, 3600001 * MS), 0);
	assert_int_equal(budget.accounts[account].left_ns, 50 * MS);
	budget_done(&budget);
}

static void a_flood_takes_nothing_from_another_user(void **state)
{
	struct budget budget;
	unsigned alice, bob;

	(void)state;
	assert_int_equal(budget_init(&budget, 10, 100, ACCOUNTS), 0);
	alice = budget_enter(&budget, ALICE, 1);
	bob = budget_enter(&budget, BOB, 1);
	ring_without_pause(&budget, alice, 1, 10000 * MS);
	assert_int_equal(budget_ring(&budget, bob, 10000 * MS), 0);
	assert_int_equal(budget.accounts[bob].left_ns, 50 * MS);
	budget_done(&budget);
}

static void many_connections_of_a_user_have_one_account(void **state)
{
	struct budget budget;
	unsigned account;

	(void)state;
	assert_int_equal(budget_init(&budget, 10, 100, ACCOUNTS), 0);
	account = budget_enter(&budget, ALICE, 1);
	for (unsigned i = 0; i < ACCOUNTS - 1; i++)
		assert_int_equal(budget_enter(&budget, ALICE, 1), account);
	assert_int_equal(budget.n_users, 1);
	budget_done(&budget);
}

static void debts_outlive_a_connection(void **state)
{
	struct budget budget;
	unsigned account;

	(void)state;
	assert_int_equal(budget_init(&budget, 10, 100, ACCOUNTS), 0);
	account = budget_enter(&budget, ALICE, 1);
	assert_int_equal(budget_ring(&budget, account, 11), 0);
	budget_charge(&budget, 7 * MS);
	budget_leave(&budget, account);
	assert_int_equal(budget.n_users, 0);
	account = budget_enter(&budget, ALICE, 12);
	/* It earned 1 ns, owes 7 ms, and needs 1 ns more than nothing, at 1 ns in 10. */
	assert_in_range(budget_ring(&budget, account, 12), 70 * MS - 10, 70 * MS + 10);
	budget_done(&budget);
}

static void the_wait_ends_when_there_is_credit(void **state)
{
	struct budget budget;
	unsigned account;
	uint64_t wait_ns;

	(void)state;
	assert_int_equal(budget_init(&budget, 67, 2, ACCOUNTS), 0);
	account = budget_enter(&budget, ALICE, 1);
	budget_ring(&budget, account, 1);
	budget_charge(&budget, 1 * MS);
	wait_ns = budget_ring(&budget, account, 1);
	assert_true(wait_ns > 0);
	assert_true(budget_ring(&budget, account, wait_ns - 10) > 0);
	assert_int_equal(budget_ring(&budget, account, 1 + wait_ns), 0);
	budget_done(&budget);
}

static void who_rings_together_pays_in_parts(void **state)
{
	struct budget budget;
	unsigned alice, bob;

	(void)state;
	assert_int_equal(budget_init(&budget, 10, 100, ACCOUNTS), 0);
	alice = budget_enter(&budget, ALICE, 1);
	bob = budget_enter(&budget, BOB, 1);
	for (unsigned i = 0; i < 3; i++)
		budget_ring(&budget, alice, 1);
	budget_ring(&budget, bob, 1);
	budget_charge(&budget, 4000);
	assert_int_equal(budget.accounts[alice].left_ns, -3000);
	assert_int_equal(budget.accounts[bob].left_ns, -1000);
	budget_done(&budget);
}

static void an_account_that_nobody_has_is_given_to_the_next(void **state)
{
	struct budget budget;
	unsigned account;

	(void)state;
	assert_int_equal(budget_init(&budget, 10, 100, 2), 0);
	budget_enter(&budget, 1, 1);
	account = budget_enter(&budget, 2, 1);
	budget_leave(&budget, account);
	assert_int_equal(budget_enter(&budget, 3, 1), account);
	assert_int_equal(budget.accounts[account].uid, 3);
	budget_done(&budget);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("a flood gets its budget and no more", a_flood_gets_its_budget_and_no_more),
		CASE("what is saved up is at most the burst, shared",
			what_is_saved_up_is_at_most_the_burst),
		CASE("a flood takes nothing from another user",
			a_flood_takes_nothing_from_another_user),
		CASE("many connections of a user have one account",
			many_connections_of_a_user_have_one_account),
		CASE("debts outlive a connection", debts_outlive_a_connection),
		CASE("the wait ends when there is credit", the_wait_ends_when_there_is_credit),
		CASE("who rings together pays in parts", who_rings_together_pays_in_parts),
		CASE("an account that nobody has is given to the next",
			an_account_that_nobody_has_is_given_to_the_next),
	};

	return cmocka_run_group_tests_name("budget", cases, NULL, NULL);
}
