/* SPDX-License-Identifier: BSD-3-Clause */
/* Refusals on a clock made by hand. */
#include "daemon/admit/refusals.h"
#include "tests/harness/test.h"

enum { ALICE = 1000, BOB = 1001 };

static const uint64_t START = 1, MINUTE = 60000000000;

static uint64_t n_silent;

static bool note(struct refusals *refusals, uint32_t uid, uint64_t now_ns)
{
	return refusals_note(refusals, POLICY_USERS, uid, now_ns, &n_silent);
}

static void each_is_counted_under_its_rule(void **state)
{
	struct refusals refusals = {};

	for (unsigned rule = 0; rule < POLICY_RULES; rule++)
		for (unsigned i = 0; i <= rule; i++)
			refusals_note(&refusals, rule, ALICE, START, &n_silent);
	for (unsigned rule = 0; rule < POLICY_RULES; rule++)
		assert_int_equal(refusals.n_by_rule[rule], rule + 1);
	assert_int_equal(refusals.n, POLICY_RULES * (POLICY_RULES + 1) / 2);
}

static void a_user_has_one_line_a_minute(void **state)
{
	struct refusals refusals = {};

	assert_true(note(&refusals, ALICE, START));
	assert_int_equal(n_silent, 0);
	for (unsigned i = 0; i < 1000; i++)
		assert_false(note(&refusals, ALICE, START + MINUTE - 1));
	assert_true(note(&refusals, ALICE, START + MINUTE));
	assert_int_equal(n_silent, 1000);
	assert_false(note(&refusals, ALICE, START + MINUTE + 1));
	assert_true(note(&refusals, ALICE, START + 2 * MINUTE));
	assert_int_equal(n_silent, 1);
}

static void a_flood_of_one_user_silences_no_other(void **state)
{
	struct refusals refusals = {};

	for (unsigned i = 0; i < 1000; i++)
		note(&refusals, ALICE, START);
	assert_true(note(&refusals, BOB, START));
	assert_int_equal(n_silent, 0);
}

static void users_beyond_the_table_share_a_line(void **state)
{
	struct refusals refusals = {};
	unsigned n_lines = 0;

	for (uint32_t uid = 0; uid < 10000; uid++)
		n_lines += note(&refusals, uid, START);
	assert_int_equal(n_lines, LOG_USERS + 1);
	assert_int_equal(refusals.n, 10000);
	/* When their minute is over, places are free for others. */
	assert_true(note(&refusals, 20000, START + MINUTE));
	assert_false(note(&refusals, 20000, START + MINUTE));
	assert_true(note(&refusals, 20001, START + MINUTE));
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("each refusal is counted under its rule", each_is_counted_under_its_rule),
		CASE("a user has one line a minute, which says how many had none",
			a_user_has_one_line_a_minute),
		CASE("a flood of one user silences no other",
			a_flood_of_one_user_silences_no_other),
		CASE("users beyond the table share a line", users_beyond_the_table_share_a_line),
	};

	return cmocka_run_group_tests_name("refusals-log", cases, NULL, NULL);
}
