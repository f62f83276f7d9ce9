/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of the log on a clock made by hand. */
#include "daemon/base/log-limit.h"
#include "tests/harness/test.h"

static const uint64_t START = 1, MINUTE = 60000000000;

static void there_is_one_line_a_minute(void **state)
{
	struct log_limit limit = {};
	uint64_t n_silent = 99;

	(void)state;
	assert_true(log_limit_permits(&limit, START, &n_silent));
	assert_int_equal(n_silent, 0);
	for (unsigned i = 0; i < 1000; i++)
		assert_false(log_limit_permits(&limit, START + MINUTE - 1, &n_silent));
	assert_true(log_limit_permits(&limit, START + MINUTE, &n_silent));
	assert_int_equal(n_silent, 1000);
	assert_true(log_limit_permits(&limit, START + 2 * MINUTE, &n_silent));
	assert_int_equal(n_silent, 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("there is one line a minute, and it counts the lines left out",
			there_is_one_line_a_minute),
	};

	return cmocka_run_group_tests_name("log-limit", cases, NULL, NULL);
}
