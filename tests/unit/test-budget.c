/* SPDX-License-Identifier: BSD-3-Clause */
/* The budget in exact numbers. */
#include "daemon/budget.h"
#include "tests/test.h"

enum { ACCOUNTS = 8, ALICE = 1000, BOB = 1001 };

static const uint64_t MS = 1000000, SWEEP_NS = 45000;

static int new_budget(
	struct budget *budget, uint32_t percent, uint32_t burst_ms, unsigned max_accounts)
{
	const struct budget_rules rules = { .percent = percent, .burst_ms = burst_ms };

	return budget_init(budget, &rules, max_accounts);
}

/* 10 % and 100 ms, shared by two users from now 1 on. */
static void new_budget_of_two(struct budget *budget, unsigned *ret_alice, unsigned *ret_bob)
{
	assert_int_equal(new_budget(budget, 10, 100, ACCOUNTS), 0);
	*ret_alice = budget_enter(budget, ALICE, NULL, 1);
	*ret_bob = budget_enter(budget, BOB, NULL, 1);
}

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

		assert_int_equal(new_budget(&budget, percents[i], 100, ACCOUNTS), 0);
		account = budget_enter(&budget, ALICE, NULL, 1);
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
	assert_int_equal(new_budget(&budget, 10, 100, ACCOUNTS), 0);
	account = budget_enter(&budget, ALICE, NULL, 1);
	assert_int_equal(budget_ring(&budget, account, 3600000 * MS), 0);
	assert_int_equal(budget.accounts[account].left_ns, 100 * MS);
	budget_enter(&budget, BOB, NULL, 3600000 * MS);
	assert_int_equal(budget_ring(&budget, account, 3600001 * MS), 0);
	assert_int_equal(budget.accounts[account].left_ns, 50 * MS);
	budget_done(&budget);
}

static void a_flood_takes_nothing_from_another_user(void **state)
{
	struct budget budget;
	unsigned alice, bob;

	(void)state;
	new_budget_of_two(&budget, &alice, &bob);
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
	assert_int_equal(new_budget(&budget, 10, 100, ACCOUNTS), 0);
	account = budget_enter(&budget, ALICE, NULL, 1);
	for (unsigned i = 0; i < ACCOUNTS - 1; i++)
		assert_int_equal(budget_enter(&budget, ALICE, NULL, 1), account);
	assert_int_equal(budget.n_users, 1);
	budget_done(&budget);
}

static void debts_outlive_a_connection(void **state)
{
	struct budget budget;
	unsigned account;

	(void)state;
	assert_int_equal(new_budget(&budget, 10, 100, ACCOUNTS), 0);
	account = budget_enter(&budget, ALICE, NULL, 1);
	assert_int_equal(budget_ring(&budget, account, 11), 0);
	budget_charge(&budget, 7 * MS);
	budget_leave(&budget, account);
	assert_int_equal(budget.n_users, 0);
	account = budget_enter(&budget, ALICE, NULL, 12);
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
	assert_int_equal(new_budget(&budget, 67, 2, ACCOUNTS), 0);
	account = budget_enter(&budget, ALICE, NULL, 1);
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
	new_budget_of_two(&budget, &alice, &bob);
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
	assert_int_equal(new_budget(&budget, 10, 100, 2), 0);
	budget_enter(&budget, 1, NULL, 1);
	account = budget_enter(&budget, 2, NULL, 1);
	budget_leave(&budget, account);
	assert_int_equal(budget_enter(&budget, 3, NULL, 1), account);
	assert_int_equal(budget.accounts[account].uid, 3);
	budget_done(&budget);
}

/* --- waking --- */

static void two_users(struct budget *budget, uint32_t min_interval_ms,
	uint32_t min_interval_per_user_ms, unsigned *ret_alice, unsigned *ret_bob)
{
	const struct budget_rules rules = { 100, 100, min_interval_ms, min_interval_per_user_ms };

	assert_int_equal(budget_init(budget, &rules, ACCOUNTS), 0);
	*ret_alice = budget_enter(budget, ALICE, NULL, 1);
	*ret_bob = budget_enter(budget, BOB, NULL, 1);
}

static void waking_is_paid_by_who_was_woken(void **state)
{
	struct budget budget;
	unsigned alice, bob;

	(void)state;
	new_budget_of_two(&budget, &alice, &bob);
	budget.accounts[alice].left_ns = budget.accounts[bob].left_ns = 1000;
	budget_ring(&budget, alice, 1);
	budget_ring(&budget, bob, 1);
	budget_woke(&budget.accounts[alice], 100);
	budget_woke(&budget.accounts[bob], 50000);
	budget_charge(&budget, 100 + 50000 + 800);
	assert_int_equal(budget.accounts[alice].left_ns, 1000 - 100 - 400);
	assert_int_equal(budget.accounts[bob].left_ns, 1000 - 50000 - 400);
	/* Charged once; and who was woken without a ring of his in the turn pays for that alone. */
	budget_woke(&budget.accounts[alice], 7);
	budget_charge(&budget, 20);
	assert_int_equal(budget.accounts[alice].left_ns, 1000 - 100 - 400 - 7);
	assert_int_equal(budget.accounts[bob].left_ns, 1000 - 50000 - 400);
	budget_done(&budget);
}

/* The clock runs on while the reader has no CPU, and what it costs does not. */
static void waking_never_costs_more_than_was_spent(void **state)
{
	struct budget budget;
	unsigned alice, bob;

	(void)state;
	new_budget_of_two(&budget, &alice, &bob);
	budget_ring(&budget, alice, 1);
	budget_woke(&budget.accounts[alice], 900);
	budget_woke(&budget.accounts[bob], 900);
	budget_charge(&budget, 1000);
	assert_int_equal(budget.accounts[alice].left_ns + budget.accounts[bob].left_ns, -1000);
	budget_done(&budget);
}

static void only_who_rang_and_can_pay_is_woken(void **state)
{
	struct budget budget;
	unsigned alice, bob;

	(void)state;
	two_users(&budget, 10, 0, &alice, &bob);
	assert_null(budget_next_to_wake(&budget));
	assert_int_equal(budget_ring(&budget, alice, 1000 * MS), 0);
	assert_ptr_equal(budget_next_to_wake(&budget), &budget.accounts[alice]);
	assert_null(budget_next_to_wake(&budget));
	budget_swept(&budget, 1000 * MS);
	/* One who waits for an interval is answered by any sweep. */
	assert_true(budget_ring(&budget, bob, 1001 * MS) > 0);
	assert_ptr_equal(budget_next_to_wake(&budget), &budget.accounts[bob]);
	/* One who waits for credit is not. */
	budget_charge(&budget, 1000 * MS);
	assert_true(budget_ring(&budget, bob, 1002 * MS) > 0);
	assert_null(budget_next_to_wake(&budget));
	/* One who has gone is nowhere to be woken. */
	budget.accounts[bob].left_ns = 1;
	budget_leave(&budget, bob);
	assert_null(budget_next_to_wake(&budget));
	budget_done(&budget);
}

/* Which of the two is woken first, if both rang. */
static const struct account *first_to_wake(struct budget *budget, unsigned a, unsigned b)
{
	const struct account *first;

	budget_ring(budget, a, 1000 * MS);
	budget_ring(budget, b, 1000 * MS);
	first = budget_next_to_wake(budget);
	assert_non_null(first);
	assert_non_null(budget_next_to_wake(budget));
	return first;
}

/* Bob has a thousand waiters in one round of @every, and one in the others. */
static unsigned rounds_in_front(unsigned every)
{
	enum { ROUNDS = 1000 };
	struct budget budget;
	unsigned alice, bob, n = 0;

	two_users(&budget, 0, 0, &bob, &alice); /* his account comes first */
	for (unsigned i = 0; i < ROUNDS; i++) {
		bool many = i % every == 0;

		n += first_to_wake(&budget, bob, alice) == &budget.accounts[bob] && many;
		budget_woke(&budget.accounts[alice], 3000);
		budget_woke(&budget.accounts[bob], many ? 2000000 : 2000);
	}
	budget_done(&budget);
	return n;
}

static void who_is_cheap_to_wake_is_woken_first(void **state)
{
	(void)state;
	/* Before anybody knows, he may be first. */
	assert_in_range(rounds_in_front(1), 0, 1);
	assert_in_range(rounds_in_front(2), 0, 1);
	assert_in_range(rounds_in_front(10), 0, 1);
}

/* --- intervals; the budget is far from spent --- */

static void an_early_ring_waits_until_the_interval_is_over(void **state)
{
	struct budget budget;
	unsigned alice, bob;

	(void)state;
	two_users(&budget, 10, 0, &alice, &bob);
	assert_int_equal(budget_ring(&budget, alice, 1000 * MS), 0);
	budget_swept(&budget, 1000 * MS + 7);
	assert_int_equal(budget_ring(&budget, alice, 1000 * MS + 8), 10 * MS - 1);
	assert_int_equal(budget_ring(&budget, bob, 1004 * MS + 7), 6 * MS);
	assert_int_equal(budget_ring(&budget, alice, 1010 * MS + 6), 1);
	assert_int_equal(budget_ring(&budget, alice, 1010 * MS + 7), 0);
	assert_int_equal(budget_ring(&budget, bob, 1010 * MS + 7), 0);
	budget_done(&budget);
}

static void an_interval_counts_from_sweeps_that_nobody_rang_for(void **state)
{
	struct budget budget;
	unsigned alice, bob;

	(void)state;
	two_users(&budget, 10, 10, &alice, &bob);
	budget_swept(&budget, 1000 * MS);
	assert_int_equal(budget_ring(&budget, alice, 1001 * MS), 9 * MS);
	budget.rules.min_interval_ms = 0;
	assert_int_equal(budget_ring(&budget, alice, 1001 * MS), 0);
	budget_done(&budget);
}

static void a_users_interval_holds_back_nobody_else(void **state)
{
	struct budget budget;
	unsigned alice, bob;

	(void)state;
	two_users(&budget, 0, 10, &alice, &bob);
	assert_int_equal(budget_ring(&budget, alice, 1000 * MS), 0);
	budget_swept(&budget, 1000 * MS);
	assert_int_equal(budget_ring(&budget, alice, 1001 * MS), 9 * MS);
	assert_int_equal(budget_ring(&budget, bob, 1001 * MS), 0);
	budget_swept(&budget, 1001 * MS);
	/* Alice was not admitted to Bob's sweep: what she waits for is still the same. */
	assert_int_equal(budget_ring(&budget, alice, 1002 * MS), 8 * MS);
	assert_int_equal(budget_ring(&budget, bob, 1002 * MS), 9 * MS);
	budget_done(&budget);
}

static void the_longest_of_all_waits_counts(void **state)
{
	struct budget budget;
	unsigned alice, bob;

	(void)state;
	two_users(&budget, 30, 20, &alice, &bob);
	assert_int_equal(budget_ring(&budget, alice, 1000 * MS), 0);
	budget_swept(&budget, 1000 * MS);
	assert_int_equal(budget_ring(&budget, alice, 1000 * MS), 30 * MS);
	budget.rules.min_interval_per_user_ms = 40;
	assert_int_equal(budget_ring(&budget, alice, 1000 * MS), 40 * MS);
	budget_charge(&budget, 150 * MS); /* 50 of them saved up, 100 owed at 50 % */
	assert_in_range(budget_ring(&budget, alice, 1000 * MS), 200 * MS, 200 * MS + 2);
	budget_done(&budget);
}

/* Rings of two users at every 100 us: what is swept, and how long the longest of them waited. */
static void rings_without_pause_share_the_sweeps_that_are_due(void **state)
{
	struct budget budget;
	unsigned accounts[2], n_sweeps = 0;
	uint64_t due_ns = UINT64_MAX, waiting_since_ns = 0, longest_ns = 0;

	(void)state;
	two_users(&budget, 10, 25, &accounts[0], &accounts[1]);
	budget_swept(&budget, 1);
	for (uint64_t now = 2; now < 1000 * MS; now += MS / 10) {
		bool admitted = false;

		for (unsigned i = 0; i < 2; i++) {
			uint64_t wait_ns = budget_ring(&budget, accounts[i], now);

			admitted |= !wait_ns;
			if (wait_ns && now + wait_ns < due_ns)
				due_ns = now + wait_ns;
		}
		if (!waiting_since_ns)
			waiting_since_ns = now;
		if (!admitted)
			continue;
		assert_true(due_ns == UINT64_MAX || now >= due_ns);
		if (now - waiting_since_ns > longest_ns)
			longest_ns = now - waiting_since_ns;
		budget_swept(&budget, now);
		n_sweeps++;
		due_ns = UINT64_MAX;
		waiting_since_ns = 0;
	}
	assert_in_range(n_sweeps, 38, 41); /* both are admitted together: every 25 ms */
	assert_in_range(longest_ns, 24 * MS, 25 * MS);
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
		CASE("waking is paid by who was woken", waking_is_paid_by_who_was_woken),
		CASE("waking never costs more than was spent",
			waking_never_costs_more_than_was_spent),
		CASE("only who rang and can pay is woken", only_who_rang_and_can_pay_is_woken),
		CASE("who is cheap to wake is woken first, also if now and then it is not",
			who_is_cheap_to_wake_is_woken_first),
		CASE("an account that nobody has is given to the next",
			an_account_that_nobody_has_is_given_to_the_next),
		CASE("an early ring waits until the interval is over, and no longer",
			an_early_ring_waits_until_the_interval_is_over),
		CASE("an interval counts from sweeps that nobody rang for, too",
			an_interval_counts_from_sweeps_that_nobody_rang_for),
		CASE("a user's interval holds back nobody else",
			a_users_interval_holds_back_nobody_else),
		CASE("the longest of all waits counts", the_longest_of_all_waits_counts),
		CASE("rings without pause share the sweeps that are due",
			rings_without_pause_share_the_sweeps_that_are_due),
	};

	return cmocka_run_group_tests_name("budget", cases, NULL, NULL);
}
