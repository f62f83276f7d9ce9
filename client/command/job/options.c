/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/frame/user.h"
#include "client/command/job/record/record-file.h"
#include "client/launcher/launch.h"
#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/text.h"

static const struct option_table *const tables[JOB_VERBS] = {
	[JOB_BEGIN] = &job_begin_table,
	[JOB_END] = &job_end_table,
	[JOB_LIST] = &job_list_table,
	[JOB_SHOW] = &job_show_table,
	[JOB_REPORT] = &job_report_table,
};

const char *job_verb_title(enum job_verb verb)
{
	return tables[verb]->command;
}

/* --- options --- */

/* The functions below return -1 to go on, or the exit status. */

static int take_user(const char *text, struct job_options *options)
{
	return user_take(job_verb_title(options->verb), text, &options->wish.uid) ? -1
										  : EXIT_FAILED;
}

/* A prolog passes on what its batch system has, so the key may be empty. */
static int take_key(const char *text, struct job_options *options)
{
	options->wish.key = *text ? text : NULL;
	return !*text || job_key_is_valid(text)
		       ? -1
		       : option_complain(tables[options->verb],
				 "--run takes plain text of at most 64 bytes");
}

/* Keeps the absolute path: a later call, which runs in another folder, may have to write the record
 * there. */
static int take_folder(const char *text, struct job_options *options)
{
	_cleanup_free_ char *from_root = launch_from_root(text);
	const char *path = from_root ? from_root : text;

	if (!record_folder_is_valid(text) || *path != '/')
		return option_complain(tables[options->verb],
			"--to takes a folder, in whose name %%j is the job's ID and %%%% a %%; "
			"another %% is not allowed");
	if (strlen(path) >= sizeof options->to)
		return option_complain(tables[options->verb],
			"--to takes a folder whose path has less than 1024 bytes");
	options->wish.to = strcpy(options->to, path);
	return -1;
}

/* Whatever text a batch system passes, the job still ends. */
static int take_exit(const char *text, struct job_options *options)
{
	snprintf(options->exit, sizeof options->exit, "%s", text);
	text_make_plain(options->exit);
	options->wish.exit = options->exit;
	return -1;
}

static int take_cpus(const char *text, struct job_options *options)
{
	return packages_parse(text, &options->wish.packages) == 0
		       ? -1
		       : option_complain(tables[options->verb],
				 "--cpus takes a list like 0-3,8, or self, and got \"%s\"", text);
}

static int job_take_option(const struct option_row *row, const char *text, void *options)
{
	static const struct {
		const char *name;
		int (*take)(const char *text, struct job_options *options);
	} takers[] = {
		{ "uid", take_user },
		{ "run", take_key },
		{ "cpus", take_cpus },
		{ "to", take_folder },
		{ "exit", take_exit },
	};
	size_t i = 0;

	while (strcmp(takers[i].name, row->name) != 0)
		i++;
	return takers[i].take(text, options);
}

/* --- all arguments --- */

static int take_arguments(int argc, char **argv, struct job_options *options)
{
	const struct option_table *table = tables[options->verb];
	const bool has_id = options->verb != JOB_LIST;

	if (has_id && argc < 1)
		return option_complain(table, "missing ID of the job");
	if (has_id && !job_id_is_valid(*argv))
		return option_complain(table, JOB_ID_WANTED);
	options->wish.id = has_id ? *argv : NULL;
	if (argc > has_id)
		return option_complain(table, has_id ? "it takes one ID" : "it takes no ID");
	if (options->verb == JOB_BEGIN && options->wish.uid == UNCORE_UNKNOWN_USER)
		return option_complain(table, "missing owner of the job: --uid USER");
	return -1;
}

static int parse_verb(int argc, char **argv, struct job_options *options)
{
	const struct option_table *table = tables[options->verb];
	int status;

	options->argc = argc;
	options->argv = argv;
	if (options->verb == JOB_REPORT)
		return -1; /* it has options of its own */
	status = option_parse(table, argc, argv, options, job_take_option);
	return status < 0 ? take_arguments(argc - optind, argv + optind, options) : status;
}

int job_options_parse(int argc, char **argv, struct job_options *ret)
{
	int status;

	*ret = (struct job_options){
		.wish = {
			.folder_path = FOLDER_PATH,
			.spool_path = FOLDER_SPOOL,
			.uid = UNCORE_UNKNOWN_USER,
		},
	};
	status = option_parse(&job_table, argc, argv, ret, NULL);
	if (status >= 0)
		return status;
	if (optind == argc)
		return option_complain(
			&job_table, "missing subcommand: begin, end, list, show or report");
	argc -= optind;
	argv += optind;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (strcmp(*argv, option_last_word(tables[i])) == 0) {
			ret->verb = (enum job_verb)i;
			return parse_verb(argc, argv, ret);
		}
	return option_no_subcommand(&job_table, *argv);
}
