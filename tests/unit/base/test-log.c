/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of the log on a clock made by hand. */
#include "daemon/base/log.h"
#include "tests/harness/test.h"

static const uint64_t START = 1, MINUTE = 60000000000;

CASE("there is one line a minute, and it counts the lines left out")
{
	struct log_limit limit = {};
	uint64_t n_silent = 99;

	assert_true(log_limit_permits(&limit, START, &n_silent));
	assert_int_equal(n_silent, 0);
	for (unsigned i = 0; i < 1000; i++)
		assert_false(log_limit_permits(&limit, START + MINUTE - 1, &n_silent));
	assert_true(log_limit_permits(&limit, START + MINUTE, &n_silent));
	assert_int_equal(n_silent, 1000);
	assert_true(log_limit_permits(&limit, START + 2 * MINUTE, &n_silent));
	assert_int_equal(n_silent, 0);
}

CASE("each user has a limit of its own")
{
	const uint64_t hour = 60 * MINUTE;
	struct log_limits limits = {};
	uint64_t n_silent = 99;

	assert_true(log_limits_permit(&limits, hour, 1000, START, &n_silent));
	assert_true(log_limits_permit(&limits, hour, 1001, START, &n_silent));
	assert_int_equal(n_silent, 0);
	assert_false(log_limits_permit(&limits, hour, 1000, START + hour - 1, &n_silent));
	assert_true(log_limits_permit(&limits, hour, 1000, START + hour, &n_silent));
	assert_int_equal(n_silent, 1);
}

CASE("users beyond the table share a limit")
{
	struct log_limits limits = {};
	uint64_t n_silent = 99;
	unsigned n_lines = 0;

	for (uint64_t user = 0; user < 1000; user++)
		n_lines += log_limits_permit(&limits, MINUTE, user, START, &n_silent);
	assert_int_equal(n_lines, LOG_USERS + 1);
	/* When their time is over, places are free for others. */
	assert_true(log_limits_permit(&limits, MINUTE, 2000, START + MINUTE, &n_silent));
	assert_int_equal(n_silent, 0);
	assert_false(log_limits_permit(&limits, MINUTE, 2000, START + MINUTE, &n_silent));
}
