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

static const uint64_t BASELINE_NS = 1000000000;

/* Pages and traces show the course, also without -I. */
static const uint64_t STEP_NS = 100000000;

/* The functions below return -1 to go on, or the exit status. */

static int stat_expand_name(const char *name, char **ret_path)
{
	int r = name ? launch_expand(name, ret_path) : 0;

	if (r == 0)
		return -1;
	if (r == -EINVAL)
		return option_complain(&stat_table,
			"only %%h, %%r, %%j, %%p and %%%% are replaced in the name of a FILE, and "
			"%s has another %%",
			name);
	return option_complain(
		&stat_table, "cannot make the name of the output from %s: %s", name, strerror(-r));
}

static int expand_outputs(struct stat_options *options)
{
	int status = stat_expand_name(options->output, &options->output_path);

	if (status < 0)
		status = stat_expand_name(options->html, &options->html_path);
	return status < 0 ? stat_expand_name(options->trace, &options->trace_path) : status;
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

/* Finds options that only a command gives a sense, or only the lack of one. */
static int check_command(const struct stat_options *options)
{
	const struct {
		bool is_given, needs_command;
		const char *name;
	} some[] = {
		{ options->for_ns, false, "for" },
		{ options->pids, false, "pid" },
		{ options->repeat, true, "repeat" },
		{ options->until > 0, true, "until" },
		{ options->warmup, true, "warmup" },
		{ options->prepare, true, "prepare" },
		{ options->baseline_ns, true, "baseline" },
		{ options->subtract, true, "subtract" },
		{ options->first_of_node, true, "first-of-node" },
		{ options->anyway, true, "anyway" },
	};
	bool has_command = *options->command;

	for (size_t i = 0; i < ARRAY_SIZE(some); i++)
		if (some[i].is_given && some[i].needs_command != has_command)
			return option_complain(&stat_table,
				has_command ? "--%s goes without a COMMAND, and got %s"
					    : "--%s needs a COMMAND to run",
				some[i].name, *options->command);
	return -1;
}

static int check_form(struct stat_options *options)
{
	if (options->separator && strlen(options->separator) != 1)
		return option_complain(
			&stat_table, "-x takes one character, and got \"%s\"", options->separator);
	options->csv |= !!options->separator;
	if (options->json + options->csv + options->metric_only > 1)
		return option_complain(
			&stat_table, "choose one of --json, --csv and --metric-only");
	if (options->channels && options->nodes)
		return option_complain(&stat_table, "choose one of --channels and --nodes");
	if (options->delay_ns && options->anyway)
		return option_complain(&stat_table, "--delay and --anyway exclude each other");
	if (options->append && !options->output)
		return option_complain(&stat_table, "--append needs -o FILE");
	options->form = options->json          ? STAT_JSON
			: options->csv         ? STAT_CSV
			: options->metric_only ? STAT_LINE
					       : STAT_TABLE;
	return -1;
}

static int stat_check_options(struct stat_options *options)
{
	int status = check_command(options);

	if (options->subtract && !options->baseline_ns)
		options->baseline_ns = BASELINE_NS;
	options->step_ns = options->interval_ns              ? options->interval_ns
			   : options->html || options->trace ? STEP_NS
							     : 0;
	if (status < 0)
		status = check_form(options);
	return status < 0 ? check_runs(options) : status;
}

int stat_options_parse(int argc, char **argv, struct stat_options *ret)
{
	int status;

	*ret = (struct stat_options){ .form = STAT_TABLE };
	status = option_parse(&stat_table, argc, argv, ret, NULL);
	ret->command = argv + optind;
	if (status < 0)
		status = stat_check_options(ret);
	return status < 0 ? expand_outputs(ret) : status;
}
void stat_options_done(struct stat_options *options)
{
	free(take_ptr(options->output_path));
	free(take_ptr(options->html_path));
	free(take_ptr(options->trace_path));
}
