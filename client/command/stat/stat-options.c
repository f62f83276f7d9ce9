/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/stat/until.h"
#include "client/launcher/launch.h"
#include "common/macro.h"

/* With a spread of 10 % from run to run, 100 runs reach a standard error of 1 %. */
enum { REPEAT_UNTIL = 100 };

/* The functions below return -1 to go on, or the exit status. */

static int expand_output(struct stat_options *options)
{
	int r = options->output ? launch_expand(options->output, &options->output_path) : 0;

	if (r == 0)
		return -1;
	if (r == -EINVAL)
		return option_complain(&stat_table,
			"only %%h, %%r, %%j, %%p and %%%% are replaced in the name of a FILE, and "
			"%s has another %%",
			options->output);
	return option_complain(&stat_table, "cannot make the name of the output from %s: %s",
		options->output, strerror(-r));
}

static int check_runs(struct stat_options *options)
{
	if (options->first_of_node && (options->until > 0 || options->repeat > 1))
		return option_complain(&stat_table,
			"--first-of-node goes with a single run, because the ranks of a job start "
			"together; to repeat the job, say `uncore stat -r N -- mpirun ...`");
	if (!options->repeat)
		options->repeat = options->until > 0 ? REPEAT_UNTIL : 1;
	if (options->until > 0 && options->repeat < UNTIL_RUNS_MIN)
		return option_complain(
			&stat_table, "with --until, -r takes at least %d runs", UNTIL_RUNS_MIN);
	return -1;
}

static int check(struct stat_options *options)
{
	if (!*options->command)
		return option_complain(
			&stat_table, "missing command; say `uncore stat -- COMMAND`");
	if (options->json && options->csv)
		return option_complain(&stat_table, "choose one of --json and --csv");
	options->form = options->json ? STAT_JSON : options->csv ? STAT_CSV : STAT_TABLE;
	return check_runs(options);
}

int stat_options_parse(int argc, char **argv, struct stat_options *ret)
{
	int status;

	*ret = (struct stat_options){ .form = STAT_TABLE };
	status = option_parse(&stat_table, argc, argv, ret, NULL);
	ret->command = argv + optind;
	if (status < 0)
		status = check(ret);
	return status < 0 ? expand_output(ret) : status;
}

void stat_options_done(struct stat_options *options)
{
	free(take_ptr(options->output_path));
}
