/* SPDX-License-Identifier: BSD-3-Clause */
/* The budget in exact numbers. */
#include "daemon/read/budget.h"
#include "tests/harness/test.h"

enum { ACCOUNTS = 1000, ALICE = 0, BOB = 1 };

static const uint64_t MS = 1000000, SECOND = 1000000000, SWEEP_NS = 45000;

static void new_budget(struct budget *budget, uint32_t percent, uint32_t burst_ms)
{
	const struct budget_rules rules = { .percent = percent, .burst_ms = burst_ms };

	assert_int_equal(budget_init(budget, &rules, ACCOUNTS), 0);
}

/* One sweep for @account alone. */
static void sweep_for(struct budget *budget, unsigned account, uint64_t now_ns)
{
	budget_swept(budget, now_ns, SWEEP_NS);
	budget_answered(budget, account);
	budget_charge(budget, account, SWEEP_NS);
}

/* Asks whenever it may from @begin_ns on for @wall_ns; returns the time that it spent. */
static uint64_t ask_without_pause(
	struct budget *budget, unsigned account, uint64_t begin_ns, uint64_t wall_ns)
{
	uint64_t now = begin_ns, spent_ns = 0;

	while (now < begin_ns + wall_ns) {
		uint64_t wait_ns = budget_ask(budget, account, now);

		now += wait_ns;
		if (wait_ns)
			continue;
		sweep_for(budget, account, now);
		now += SWEEP_NS;
		spent_ns += SWEEP_NS;
	}
	return spent_ns;
}

static struct budget budget;

static int end(void **state)
{
	budget_done(&budget);
	return compare_descriptors(state);
}

#define BUDGET_CASE(sentence) CASE_WITHIN(sentence, remember_descriptors, end)

CASE("a flood gets the budget and the burst, and no more")
{
	static const uint32_t percents[] = { 1, 10, 41, 67, 99 };

	for (unsigned i = 0; i < sizeof percents / sizeof *percents; i++) {
		uint64_t earned_ns = 10 * SECOND * percents[i] / 100;

		new_budget(&budget, percents[i], 100);
		assert_in_range(ask_without_pause(&budget, ALICE, 1, 10 * SECOND), earned_ns,
			earned_ns + 100 * MS + 2 * SWEEP_NS);
		budget_done(&budget);
	}
}

BUDGET_CASE("what an account has used is counted, and its debt is as of now")
{
	struct budget_use use;

	new_budget(&budget, 10, 100);
	budget_ask(&budget, ALICE, 1);
	for (unsigned i = 0; i < 2; i++)
		sweep_for(&budget, ALICE, 1);
	budget_put_off(&budget, ALICE);
	budget_charge_unasked(
		&budget, ALICE, 150 * MS); /* 75 ms are saved up, 25 of them reserved */
	use = budget_use(&budget, ALICE, 1);
	assert_int_equal(use.charged_ns, 150 * MS + 2 * SWEEP_NS);
	assert_int_equal(use.n_answered, 2);
	assert_int_equal(use.n_put_off, 1);
	assert_int_equal(use.debt_ns, 100 * MS); /* at most the burst */
	assert_int_equal(budget_use(&budget, ALICE, 1 + 400 * MS).debt_ns, 60 * MS);
	assert_int_equal(budget_use(&budget, ALICE, 1 + SECOND).debt_ns, 0);
	assert_int_equal(budget_use(&budget, BOB, 1).charged_ns, 0);
	budget_forget(&budget, ALICE);
	assert_int_equal(budget_use(&budget, ALICE, 1).charged_ns, 0);
}

BUDGET_CASE("users save up the burst at most")
{
	new_budget(&budget, 10, 100);
	assert_int_equal(budget_ask(&budget, ALICE, 1), 0);
	assert_int_equal(budget_ask(&budget, ALICE, 3600 * SECOND), 0);
	assert_int_equal(budget.total_ns, 75 * MS); /* and 25 ms that thrifty users may owe */
	assert_int_equal(budget.accounts[ALICE].credit_ns, 100 * MS);
}

BUDGET_CASE("idle users cost nothing")
{
	uint64_t alone_ns, beside_idle_ns;

	new_budget(&budget, 10, 100);
	alone_ns = ask_without_pause(&budget, ALICE, 1, 10 * SECOND);
	budget_done(&budget);
	new_budget(&budget, 10, 100);
	for (unsigned i = 1; i < ACCOUNTS; i++)
		assert_int_equal(budget_ask(&budget, i, 1), 0);
	beside_idle_ns = ask_without_pause(&budget, ALICE, 2 * SECOND, 10 * SECOND);
	assert_int_equal(beside_idle_ns, alone_ns);
	assert_int_equal(budget.n_active, 1);
}

BUDGET_CASE("a thrifty user waits for no flood")
{
	uint64_t now = 1;

	new_budget(&budget, 10, 100);
	ask_without_pause(&budget, ALICE, now, 10 * SECOND);
	now += 10 * SECOND;
	/* At first BOB has nothing, and waits for the first ns that it earns. */
	assert_in_range(budget_ask(&budget, BOB, now), 0, 20);
	for (unsigned i = 0; i < 1000; i++) {
		ask_without_pause(&budget, ALICE, now, 2 * MS);
		now += 2 * MS;
		assert_int_equal(budget_ask(&budget, BOB, now), 0);
		sweep_for(&budget, BOB, now);
	}
}

/* Users could come under new names by subordinate ids, if these were not one account. */
BUDGET_CASE("coming under new names gets no more than the total")
{
	uint64_t now = 1, spent_ns = 0;

	new_budget(&budget, 10, 100);
	for (unsigned i = 0; now < 10 * SECOND; i = (i + 1) % ACCOUNTS) {
		budget_forget(&budget, i);
		for (uint64_t wait_ns = 1; wait_ns; now += wait_ns)
			wait_ns = budget_ask(&budget, i, now);
		sweep_for(&budget, i, now);
		now += SWEEP_NS;
		spent_ns += SWEEP_NS;
	}
	assert_in_range(spent_ns, SECOND, SECOND + 100 * MS + 2 * SWEEP_NS);
}

BUDGET_CASE("a user that is alone waits for some sweeps in a row")
{
	uint64_t wait_ns;

	new_budget(&budget, 10, 100);
	assert_int_equal(budget_ask_for_some(&budget, ALICE, 1), 0);
	budget.total_ns = 0;
	sweep_for(&budget, ALICE, 1);
	budget.sweep_cost_ns = SWEEP_NS;
	wait_ns = budget_ask(&budget, ALICE, 1);
	assert_int_equal(budget_ask_for_some(&budget, ALICE, 1), wait_ns + 10 * (3 * SWEEP_NS + 1));
	budget_ask(&budget, BOB, 1);
	assert_int_equal(budget_ask_for_some(&budget, ALICE, 1), budget_ask(&budget, ALICE, 1));
}

BUDGET_CASE("debts are kept, and the wait for them ends when there is credit")
{
	uint64_t now = 10 * SECOND, wait_ns;

	new_budget(&budget, 10, 100);
	ask_without_pause(&budget, ALICE, 1, now);
	now += 1 + budget_ask(&budget, ALICE, now);
	assert_int_equal(budget_ask(&budget, ALICE, now), 0);
	budget_charge(&budget, ALICE, 7 * MS);
	wait_ns = budget_ask(&budget, ALICE, now);
	assert_in_range(wait_ns, 69 * MS, 70 * MS + 10);
	assert_true(budget_ask(&budget, ALICE, now + wait_ns - 20) > 0);
	assert_int_equal(budget_ask(&budget, ALICE, now + wait_ns), 0);
}

BUDGET_CASE("while there is plenty nobody keeps count")
{
	new_budget(&budget, 10, 100);
	assert_int_equal(budget_ask(&budget, ALICE, 1), 0);
	budget_charge(&budget, ALICE, 49 * MS);
	assert_int_equal(budget_ask(&budget, ALICE, 1), 0);
	budget_charge(&budget, ALICE, 2 * MS);
	/* 24 ms are left for users with credit; ALICE has earned none yet. */
	assert_in_range(budget_ask(&budget, ALICE, 1), 1, 10);
	assert_int_equal(budget_ask(&budget, ALICE, 11), 0);
}

/* Together the users pay for a sweep that none could pay alone. */
BUDGET_CASE("users in debt by a sweep join the sweep of another")
{
	new_budget(&budget, 10, 100);
	ask_without_pause(&budget, ALICE, 1, 10 * SECOND);
	budget_ask(&budget, BOB, 10 * SECOND);
	budget_charge(&budget, BOB, SWEEP_NS / 2);
	assert_true(budget_ask(&budget, BOB, 10 * SECOND) > 0);
	assert_true(budget_may_join(&budget, BOB, 10 * SECOND));
	budget_charge(&budget, BOB, SWEEP_NS);
	assert_false(budget_may_join(&budget, BOB, 10 * SECOND));
}

/* BOB is admitted alone, because it has more credit. */
BUDGET_CASE("nobody joins a sweep to draw on the next earnings")
{
	new_budget(&budget, 10, 100);
	budget.sweep_cost_ns = SWEEP_NS;
	budget_ask(&budget, ALICE, SECOND);
	budget_ask(&budget, BOB, SECOND);
	budget.accounts[ALICE].credit_ns = 8 * MS;
	budget.accounts[BOB].credit_ns = 80 * MS;
	budget.total_ns = -10 * (int64_t)MS;
	assert_int_equal(budget_ask(&budget, BOB, SECOND), 0);
	assert_false(budget_may_join(&budget, ALICE, SECOND));
	budget.total_ns = -1 * (int64_t)MS;
	assert_true(budget_may_join(&budget, ALICE, SECOND));
}

/* BOB was idle for a while, and the flood of ALICE has just spent the total. */
BUDGET_CASE("a user that has saved up waits for no total")
{
	uint64_t now = 10 * SECOND;

	new_budget(&budget, 10, 100);
	assert_int_equal(budget_ask(&budget, BOB, 1), 0);
	ask_without_pause(&budget, ALICE, 1, now);
	budget_charge(&budget, ALICE, 40 * MS);
	assert_true(budget_ask(&budget, ALICE, now) > 0);
	assert_true(budget.total_ns <= 0);
	assert_int_equal(budget_ask(&budget, BOB, now), 0);
	budget_charge(&budget, ALICE, 20 * MS);
	assert_true(budget_ask(&budget, BOB, now) > 0);
}

/* Both have saved up all that they can, and one spends it. */
BUDGET_CASE("a user that keeps its credit does not wait for users that spend theirs")
{
	uint64_t now = 10 * SECOND;

	new_budget(&budget, 10, 100);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(budget_ask(&budget, ALICE, 1 + i * now), 0);
		assert_int_equal(budget_ask(&budget, BOB, 1 + i * now), 0);
	}
	assert_int_equal(budget.accounts[ALICE].credit_ns, 100 * MS);
	for (unsigned i = 0; i < 1000; i++) {
		now += 2 * MS;
		ask_without_pause(&budget, ALICE, now, 2 * MS);
		assert_int_equal(budget_ask(&budget, BOB, now + 2 * MS), 0);
		sweep_for(&budget, BOB, now + 2 * MS);
	}
	assert_true(budget.accounts[ALICE].credit_ns < budget.accounts[BOB].credit_ns);
}

BUDGET_CASE("costs that could not wait put only their account in debt")
{
	new_budget(&budget, 10, 100);
	assert_int_equal(budget_ask(&budget, BOB, 1), 0);
	assert_int_equal(budget_ask(&budget, BOB, 100 * MS), 0);
	budget_charge_unasked(&budget, ALICE, 10 * SECOND);
	assert_int_equal(budget.total_ns, 0);
	assert_int_equal(budget.accounts[ALICE].credit_ns, -(int64_t)(100 * MS));
	assert_int_equal(budget_ask(&budget, BOB, 100 * MS + 10), 0);
	assert_true(budget_ask(&budget, ALICE, 100 * MS + 10) > 200 * MS);
}

BUDGET_CASE("costs that could not wait lessen no debt")
{
	new_budget(&budget, 10, 100);
	assert_int_equal(budget_ask(&budget, ALICE, 1), 0);
	budget.accounts[ALICE].counts = true;
	budget_charge(&budget, ALICE, SECOND);
	budget_charge_unasked(&budget, ALICE, MS);
	assert_int_equal(budget.accounts[ALICE].credit_ns, -(int64_t)SECOND);
}

BUDGET_CASE("an account waits for its own debt, and not for those of others")
{
	new_budget(&budget, 10, 100);
	assert_int_equal(budget_ask_own(&budget, ALICE, 1), 0);
	budget_charge(&budget, ALICE, 60 * MS); /* of 75; the reserve is 25 */
	assert_int_equal(budget_ask_own(&budget, ALICE, 1), 0);
	budget_charge(&budget, ALICE, 30 * MS); /* the total is in debt, too */
	assert_int_equal(budget_ask_own(&budget, ALICE, 1), 30 * 10 * MS);
	assert_int_equal(budget_ask_own(&budget, BOB, 1), 0);
	assert_true(budget_ask(&budget, BOB, 1) > 0);
	/* Two ask, so each earns 5 %: in 500 ms. But in 300 ms there is plenty. */
	assert_int_equal(budget_ask_own(&budget, ALICE, 1 + 100 * MS), 300 * MS + 10);
	assert_int_equal(budget_ask_own(&budget, ALICE, 1 + 400 * MS + 10), 0);
}

BUDGET_CASE("a number that stands for another user begins with nothing")
{
	new_budget(&budget, 10, 100);
	ask_without_pause(&budget, ALICE, 1, 10 * SECOND);
	budget_charge(&budget, ALICE, SECOND);
	assert_int_equal(budget.n_active, 1);
	budget_forget(&budget, ALICE);
	assert_int_equal(budget.n_active, 0);
	assert_int_equal(budget.accounts[ALICE].credit_ns, 0);
}

/* --- intervals --- */

BUDGET_CASE("an early ring waits until the interval is over, and no longer")
{
	new_budget(&budget, 100, 1000);
	budget.rules.min_interval_ms = 20;
	assert_int_equal(budget_ask(&budget, ALICE, 1 * MS), 0);
	sweep_for(&budget, ALICE, 2 * MS);
	assert_int_equal(budget_ask(&budget, BOB, 5 * MS), 17 * MS);
	assert_int_equal(budget_ask(&budget, BOB, 22 * MS), 0);
}

BUDGET_CASE("the interval of a user holds back nobody else")
{
	new_budget(&budget, 100, 1000);
	budget.rules.min_interval_per_user_ms = 20;
	assert_int_equal(budget_ask(&budget, ALICE, 1 * MS), 0);
	sweep_for(&budget, ALICE, 2 * MS);
	assert_int_equal(budget_ask(&budget, ALICE, 5 * MS), 17 * MS);
	assert_int_equal(budget_ask(&budget, BOB, 5 * MS), 0);
}

BUDGET_CASE("the longest of all waits counts")
{
	new_budget(&budget, 10, 1);
	budget.rules.min_interval_ms = 20;
	budget.rules.min_interval_per_user_ms = 30;
	assert_int_equal(budget_ask(&budget, ALICE, 1 * MS), 0);
	sweep_for(&budget, ALICE, 1 * MS);
	assert_int_equal(budget_ask(&budget, ALICE, 1 * MS), 30 * MS);
	budget_charge(&budget, ALICE, 11 * MS);
	assert_in_range(budget_ask(&budget, ALICE, 1 * MS), 100 * MS, 120 * MS);
}
