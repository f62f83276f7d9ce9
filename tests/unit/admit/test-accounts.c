/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/admit/accounts.h"

#include "tests/harness/test.h"

static struct accounts accounts;

static unsigned find_known(uint64_t id)
{
	bool is_new;
	unsigned number = accounts_find(&accounts, id, &is_new);

	assert_false(is_new);
	return number;
}

static unsigned find_new(uint64_t id)
{
	bool is_new;
	unsigned number = accounts_find(&accounts, id, &is_new);

	assert_true(is_new);
	assert_true(number < ACCOUNTS_MAX);
	return number;
}

/* Account i has the id 1000 + i, and one connection. */
static void take_all(void)
{
	for (unsigned i = 0; i < ACCOUNTS_MAX; i++)
		accounts_enter(&accounts, find_new(1000 + i));
}

static int set_up(void **state)
{
	remember_descriptors(state);
	return accounts_init(&accounts);
}

static int tear_down(void **state)
{
	accounts_done(&accounts);
	return compare_descriptors(state);
}

#define ACCOUNTS_CASE(sentence) CASE_WITHIN(sentence, set_up, tear_down)

ACCOUNTS_CASE("each id has a number of its own, and keeps it")
{
	unsigned of_zero = find_new(0), of_block = find_new(UINT64_C(1) << 32);

	assert_int_not_equal(of_zero, of_block);
	assert_int_equal(find_known(0), of_zero);
	assert_int_equal(find_known(UINT64_C(1) << 32), of_block);
}

ACCOUNTS_CASE("it keeps the number when its last connection has gone")
{
	unsigned number = find_new(1000);

	accounts_enter(&accounts, number);
	accounts_leave(&accounts, number, 5);
	for (unsigned i = 1; i < ACCOUNTS_MAX; i++)
		assert_int_not_equal(find_new(1000 + i), number);
	assert_int_equal(find_known(1000), number);
}

ACCOUNTS_CASE("when all numbers are taken, the number without connections for longest is given "
	      "away")
{
	take_all();
	accounts_leave(&accounts, find_known(1007), 30);
	accounts_leave(&accounts, find_known(1003), 10);
	accounts_leave(&accounts, find_known(1005), 20);
	accounts_enter(&accounts, find_known(1005));
	assert_int_equal(find_new(1), 3);
	accounts_enter(&accounts, 3);
	assert_int_equal(find_new(2), 7);
	accounts_enter(&accounts, 7);
	assert_int_equal(find_known(1), 3);
	assert_int_equal(find_known(1005), 5);
}

ACCOUNTS_CASE("a number with connections is never given away")
{
	bool is_new;

	take_all();
	accounts_enter(&accounts, 8);
	accounts_leave(&accounts, 8, 10);
	assert_int_equal(accounts_find(&accounts, 1, &is_new), ACCOUNTS_NONE);
	assert_false(is_new);
	assert_int_equal(find_known(1008), 8);
	accounts_leave(&accounts, 8, 20);
	assert_int_equal(find_new(1), 8);
}

static bool is_eighth(const void *holder, unsigned number)
{
	return holder == &accounts && number == 8;
}

ACCOUNTS_CASE("a number that is held is not given away")
{
	accounts.is_held = is_eighth;
	accounts.holder = &accounts;
	take_all();
	accounts_leave(&accounts, 8, 10);
	accounts_leave(&accounts, 9, 20);
	assert_int_equal(find_new(1), 9);
	assert_int_equal(find_known(1008), 8);
}

static unsigned n_questions;

static bool is_always(const void *holder, unsigned number)
{
	(void)holder, (void)number;
	n_questions++;
	return true;
}

/* In this order each account is a better candidate than the one before. */
ACCOUNTS_CASE("a new account asks at most once for each other one whether it is held")
{
	bool is_new;

	accounts.is_held = is_always;
	take_all();
	for (unsigned i = 0; i < ACCOUNTS_MAX; i++)
		accounts_leave(&accounts, i, ACCOUNTS_MAX - i);
	n_questions = 0;
	assert_int_equal(accounts_find(&accounts, 1, &is_new), ACCOUNTS_NONE);
	assert_int_equal(n_questions, ACCOUNTS_MAX);
}

ACCOUNTS_CASE("the account with most connections is found")
{
	unsigned a = find_new(1), b = find_new(2), c = find_new(3);

	accounts_enter(&accounts, c);
	assert_int_equal(accounts_largest(&accounts), c);
	accounts_enter(&accounts, a);
	accounts_enter(&accounts, a);
	assert_int_equal(accounts_largest(&accounts), a);
	accounts_enter(&accounts, b);
	accounts_leave(&accounts, a, 1);
	accounts_leave(&accounts, a, 2);
	accounts_leave(&accounts, c, 3);
	assert_int_equal(accounts_largest(&accounts), b);
}
