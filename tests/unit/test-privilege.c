/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon says when the kernel does not let it count: each cause has its own remedy. */
#include "daemon/privilege.h"
#include "tests/test.h"

#include <errno.h>
#include <string.h>

static void assert_says(bool has_perfmon, int paranoid, const char *words, const char *more_words)
{
	struct fault fault = {};

	assert_int_equal(privilege_sentence(-EACCES, has_perfmon, paranoid, &fault), -EACCES);
	assert_non_null(strstr(fault.text, words));
	assert_non_null(strstr(fault.text, more_words));
}

static void without_the_capability_it_is_named(void **state)
{
	(void)state;
	assert_says(false, 2, "it lacks CAP_PERFMON", "setcap cap_perfmon+ep");
	assert_says(false, 4, "it lacks CAP_PERFMON", "perf_event_paranoid is 4");
}

static void above_two_there_are_two_remedies(void **state)
{
	(void)state;
	for (int paranoid = 3; paranoid <= 4; paranoid++)
		assert_says(true, paranoid, "sysctl kernel.perf_event_paranoid=2",
			"drop-in uncored-paranoid.conf");
}

static void else_something_other_forbids_it(void **state)
{
	(void)state;
	assert_says(true, 2, "seccomp filter", "Permission denied");
	assert_says(true, -1, "kernel lockdown", "Permission denied");
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("without CAP_PERFMON the capability is named",
			without_the_capability_it_is_named),
		CASE("above perf_event_paranoid 2 there are two remedies",
			above_two_there_are_two_remedies),
		CASE("else a filter or security module is suspected",
			else_something_other_forbids_it),
	};

	return cmocka_run_group_tests_name("privilege", cases, NULL, NULL);
}
