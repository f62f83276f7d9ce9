/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon says when the kernel does not let it count: each cause has its own remedy. */
#include "daemon/base/privilege.h"
#include "tests/harness/test.h"

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
	assert_says(false, 2, "it lacks CAP_PERFMON", "through its systemd unit");
	assert_says(false, 4, "it lacks CAP_PERFMON", "perf_event_paranoid is 4");
}

static void above_two_there_are_two_remedies(void **state)
{
	for (int paranoid = 3; paranoid <= 4; paranoid++)
		assert_says(true, paranoid, "sysctl kernel.perf_event_paranoid=2",
			"drop-in uncored-paranoid.conf");
}

static void else_something_other_forbids_it(void **state)
{
	assert_says(true, 2, "seccomp filter", "Permission denied");
	assert_says(true, -1, "security module", "Permission denied");
}

/* Lockdown refuses samples of registers, and no counter: security_locked_down() in
 * perf_event_open(). */
static void lockdown_is_not_suspected(void **state)
{
	struct fault fault = {};

	privilege_sentence(-EPERM, true, 2, &fault);
	assert_null(strstr(fault.text, "lockdown"));
}

/* --- starting --- */

enum { PERFMON = 1, USER = 1000 }; /* the capability is any bit */

static int start_with(const struct privilege_start *start)
{
	struct fault fault = {};
	int r = privilege_check_start(start, &fault);

	if (r < 0)
		assert_non_null(strstr(fault.text, "`setcap -r`"));
	return r;
}

static void a_file_that_lends_privilege_is_refused(void **state)
{
	assert_int_equal(start_with(&(struct privilege_start){
				 .secure = true, .uid = USER, .euid = USER, .permitted = PERFMON }),
		-EPERM);
	assert_int_equal(
		start_with(&(struct privilege_start){ .secure = true, .uid = USER }), -EPERM);
	assert_int_equal(start_with(&(struct privilege_start){
				 .secure = true, .uid = USER, .euid = USER, .gid = USER }),
		-EPERM);
	assert_int_equal(start_with(&(struct privilege_start){ .secure = true,
				 .uid = USER,
				 .euid = USER,
				 .permitted = PERFMON | 2,
				 .ambient = PERFMON }),
		-EPERM);
}

static void a_security_modules_distrust_alone_is_no_obstacle(void **state)
{
	assert_int_equal(start_with(&(struct privilege_start){ .secure = true,
				 .uid = USER,
				 .euid = USER,
				 .permitted = PERFMON,
				 .ambient = PERFMON }),
		0);
	assert_int_equal(
		start_with(&(struct privilege_start){ .secure = true, .permitted = PERFMON }), 0);
}

static void inherited_privilege_is_accepted(void **state)
{
	assert_int_equal(start_with(&(struct privilege_start){ .permitted = PERFMON }), 0);
	assert_int_equal(start_with(&(struct privilege_start){ .uid = USER, .euid = USER }), 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("without CAP_PERFMON, the sentence names the capability",
			without_the_capability_it_is_named),
		CASE("above perf_event_paranoid 2 there are two remedies",
			above_two_there_are_two_remedies),
		CASE("otherwise a filter or security module is suspected",
			else_something_other_forbids_it),
		CASE("kernel lockdown is not suspected", lockdown_is_not_suspected),
		CASE("a file that lends privilege is refused",
			a_file_that_lends_privilege_is_refused),
		CASE("a security module's distrust alone is not an obstacle",
			a_security_modules_distrust_alone_is_no_obstacle),
		CASE("inherited privilege is accepted", inherited_privilege_is_accepted),
	};

	return cmocka_run_group_tests_name("privilege", cases, NULL, NULL);
}
