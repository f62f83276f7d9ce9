/* SPDX-License-Identifier: BSD-3-Clause */
/* What launchers and batch systems say in the environment, and file names made of it. */
#include <string.h>

#include "client/launcher/launch.h"
#include "common/macro.h"
#include "common/text.h"
#include "tests/harness/test.h"

CASE("the local rank is that of the innermost launcher")
{
	static const char *const variables[] = { "SLURM_LOCALID", "FLUX_TASK_LOCAL_ID",
		"PALS_LOCAL_RANKID", "PMI_LOCAL_RANK", "PMIX_LOCAL_RANK", "MPT_LRANK",
		"JSM_NAMESPACE_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
		"OMPI_COMM_WORLD_LOCAL_RANK" };
	char text[24];

	assert_int_equal(launch_local_rank(), -1);
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		setenv(variables[i], "", 1);
		assert_int_equal(launch_local_rank(), i ? (int)i : -1);
		snprintf(text, sizeof text, "%zu", i + 1);
		setenv(variables[i], text, 1);
		assert_int_equal(launch_local_rank(), (int)i + 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
}

static void expect_expansion(const char *template, const char *expected)
{
	_cleanup_free_ char *path = NULL;

	assert_int_equal(launch_expand(template, &path), 0);
	assert_string_equal(path, expected);
}

CASE("a file name may have the id of the job")
{
	static const char *const variables[] = { "JOB_ID", "FLUX_JOB_ID", "COBALT_JOBID",
		"OAR_JOB_ID", "PJM_JOBID", "LSB_JOBID", "PBS_JOBID", "SLURM_JOB_ID" };

	expect_expansion("%j/%%", "nojob/%");
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		setenv(variables[i], variables[i], 1);
		expect_expansion("%j", variables[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
}

CASE("a label is plain text, as much as there is room for")
{
	char long_one[2 * LAUNCH_LABEL_MAX] = "", label[LAUNCH_LABEL_MAX] = "x";

	launch_label(label);
	assert_string_equal(label, "");
	setenv("UNCORE_LABEL", "</script> caf\xc3\xa9 \"a\"", 1);
	launch_label(label);
	assert_string_equal(label, "</script> caf\xc3\xa9 \"a\"");
	setenv("UNCORE_LABEL", "a\x1b[2J", 1);
	launch_label(label);
	assert_string_equal(label, "a?[2J");
	for (size_t i = 0; i + 2 < sizeof long_one; i += 2)
		strcpy(long_one + i, "\xc3\xa9");
	setenv("UNCORE_LABEL", long_one, 1);
	launch_label(label);
	assert_int_equal(strlen(label), LAUNCH_LABEL_MAX - 1);
	assert_true(text_is_plain(label));
	unsetenv("UNCORE_LABEL");
}

CASE("an id that cannot be a part of a name is left out")
{
	char longest[2 * LAUNCH_JOB_MAX] = "", job[LAUNCH_JOB_MAX] = "x";

	memset(longest, '1', sizeof longest - 1);
	setenv("PBS_JOBID", "123[4].server", 1);
	expect_expansion("%j", "123[4].server");
	setenv("SLURM_JOB_ID", longest, 1);
	expect_expansion("%j", "123[4].server");
	setenv("SLURM_JOB_ID", "../../etc/evil", 1);
	expect_expansion("%j", "123[4].server");
	unsetenv("SLURM_JOB_ID");
	setenv("PBS_JOBID", "\033[2J", 1);
	expect_expansion("%j", "nojob");
	assert_false(launch_job(job));
	assert_string_equal(job, "");
	unsetenv("PBS_JOBID");
}
