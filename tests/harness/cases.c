/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/test.h"

#include <errno.h>

enum { CASES_MAX = 64 };

bool case_has_ended = true;

static struct CMUnitTest cases[CASES_MAX];
static size_t n_cases;

void case_add(struct CMUnitTest test)
{
	if (n_cases == CASES_MAX)
		abort();
	cases[n_cases++] = test;
}

int run_cases(CMFixtureFunction set_up_all, CMFixtureFunction tear_down_all)
{
	return _cmocka_run_group_tests(
		program_invocation_short_name, cases, n_cases, set_up_all, tear_down_all);
}
