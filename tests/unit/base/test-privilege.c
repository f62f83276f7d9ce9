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

CASE("without CAP_PERFMON, the sentence names the capability")
{
	assert_says(false, 2, "it lacks CAP_PERFMON", "through its systemd unit");
	assert_says(false, 4, "it lacks CAP_PERFMON", "perf_event_paranoid is 4");
}

CASE("above perf_event_paranoid 2 there are two remedies")
{
	for (int paranoid = 3; paranoid <= 4; paranoid++)
		assert_says(true, paranoid, "sysctl kernel.perf_event_paranoid=2",
			"drop-in uncored-paranoid.conf");
}

CASE("otherwise a filter or security module is suspected")
{
	assert_says(true, 2, "seccomp filter", "Permission denied");
	assert_says(true, -1, "security module", "Permission denied");
}

/* Lockdown refuses samples of registers, and no counter: security_locked_down() in
 * perf_event_open(). */
CASE("kernel lockdown is not suspected")
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

CASE("a file that lends privilege is refused")
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

CASE("a security module's distrust alone is not an obstacle")
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

CASE("inherited privilege is accepted")
{
	assert_int_equal(start_with(&(struct privilege_start){ .permitted = PERFMON }), 0);
	assert_int_equal(start_with(&(struct privilege_start){ .uid = USER, .euid = USER }), 0);
}
