/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/report-options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/frame/user.h"
#include "client/jobstore/run.h"
#include "client/libuncore/uncore.h"
#include "common/macro.h"

/* The functions below return -1 to go on, or the exit status. */

static int take_run_key(const char *text, struct report_options *options)
{
	options->run_key = *text ? text : NULL;
	return !*text || job_key_is_valid(text)
		       ? -1
		       : option_complain(
				 options->table, "--run takes plain text of at most 64 bytes");
}

static int take_output(enum report_output output, struct report_options *options)
{
	if (options->output != REPORT_TABLE && options->output != output)
		return option_complain(options->table, "--csv and --json exclude each other");
	options->output = output;
	return -1;
}

static int report_take_option(const struct option_row *row, const char *text, void *argument)
{
	struct report_options *options = argument;
	const char *title = options->table->command;

	if (strcmp(row->name, "user") == 0)
		return user_take(title, text, &options->uid) ? -1 : EXIT_FAILED;
	if (strcmp(row->name, "trust") == 0)
		return trust_add(&options->trust, title, text) ? -1 : EXIT_FAILED;
	if (strcmp(row->name, "run") == 0)
		return take_run_key(text, options);
	if (strcmp(row->name, "predict") == 0)
		return predictions_add(&options->predictions, (char *)text)
			       ? -1
			       : option_complain(options->table,
					 "--predict takes UNIT=BYTES or REGION:UNIT=BYTES, at most "
					 "%d times, and got \"%s\"",
					 PREDICTIONS_MAX, text);
	return take_output(strcmp(row->name, "csv") == 0 ? REPORT_CSV : REPORT_JSON, options);
}

static int parse_hosts(struct report_options *options)
{
	const char *text = options->host_list;
	const int r = text ? hostlist_parse(text, &options->hosts) : 0;

	return r == 0 ? -1
		      : option_complain(options->table, "--hosts takes %s, and got \"%s\"",
				hostlist_wanted(r), text);
}

/* Some options need files, and the others need their absence. */
static int report_check_options(struct report_options *options)
{
	bool of_kept = options->keep || options->running || options->uid != UNCORE_UNKNOWN_USER;

	if (options->n_paths && of_kept)
		return option_complain(&report_table,
			"--keep, --running and --user are about the jobs that uncored keeps: "
			"leave out FILE");
	if (!options->n_paths &&
		(options->nodes || options->job || options->host_list || options->trust.n ||
			options->candidates > 0 || options->arrays || options->predictions.n))
		return option_complain(&report_table, "--arrays, --candidates, --hosts, --job, "
						      "--nodes, --predict and --trust need a FILE "
						      "or DIR");
	if (options->merge && (!options->n_paths || options->candidates > 0 || options->html))
		return option_complain(&report_table,
			"--merge needs a FILE or DIR of records, and goes with --json, --csv and "
			"--hosts");
	if (options->candidates > 0 && (options->output == REPORT_CSV || options->html))
		return option_complain(
			&report_table, "--candidates prints a table, or JSON with --json");
	if (options->arrays && (options->merge || options->html || options->output == REPORT_CSV))
		return option_complain(
			&report_table, "--arrays prints a table, or JSON with --json");
	if (options->against && (!options->html || !options->n_paths))
		return option_complain(&report_table,
			"--against needs --html and a FILE; `uncore compare` prints text");
	return parse_hosts(options);
}

static int report_options_begin(
	const struct option_table *table, int argc, char **argv, struct report_options *ret)
{
	int status;

	*ret = (struct report_options){ .table = table, .uid = UNCORE_UNKNOWN_USER };
	status = option_parse(table, argc, argv, ret, report_take_option);
	ret->paths = argv + optind;
	ret->n_paths = argc - optind;
	return status;
}

int report_options_parse(int argc, char **argv, struct report_options *ret)
{
	int status = report_options_begin(&report_table, argc, argv, ret);

	return status < 0 ? report_check_options(ret) : status;
}

/* Where the scripts for Slurm put the records (conf/slurm). */
static char usual_path[] = "/var/lib/uncored-jobs", *usual_paths[] = { usual_path };

int job_report_options_parse(int argc, char **argv, struct report_options *ret)
{
	int status = report_options_begin(&job_report_table, argc, argv, ret);

	if (status >= 0)
		return status;
	if (!ret->n_paths--)
		return option_complain(ret->table, "missing ID of the job");
	ret->of_job = true;
	ret->job = *ret->paths++;
	if (!job_id_is_valid(ret->job))
		return option_complain(ret->table, JOB_ID_WANTED);
	if (!ret->n_paths) {
		ret->paths = usual_paths;
		ret->n_paths = ARRAY_SIZE(usual_paths);
	}
	return parse_hosts(ret);
}
