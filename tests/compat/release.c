/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/compat/release.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/macro.h"

bool release_was_built(void)
{
	_cleanup_file_ FILE *stamp = NULL;
	char why[512] = "";

	if (access(build_path(RELEASE "/probe"), X_OK) == 0)
		return true;
	stamp = fopen(build_path("tests/compat/0.1.0.stamp"), "re");
	if (stamp && !fgets(why, sizeof why, stamp))
		why[0] = '\0';
	printf("1..0 # SKIP uncored 0.1.0 could not be built here: %s\n", why);
	return false;
}

void run_with_library(struct run *ret, uid_t uid, const char *library, const char *program,
	const char *const arguments[])
{
	const char *all[ARGUMENTS_MAX] = { "env" };
	_cleanup_free_ char *setting = NULL, *path = strdup(build_path(program));
	unsigned n = 1;

	assert_true(asprintf(&setting, "LD_LIBRARY_PATH=%s", build_path(library)) > 0);
	all[n++] = setting;
	all[n++] = path;
	while (*arguments) {
		assert_true(n < ARGUMENTS_MAX - 1);
		all[n++] = *arguments++;
	}
	run_program(ret, uid, all);
}
