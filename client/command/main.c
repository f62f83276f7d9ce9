/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore: shows people what uncored measures. This file only finds the command. */
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "client/command/complete.h"
#include "client/command/frame/child.h"
#include "client/command/frame/command.h"
#include "client/command/frame/output.h"
#include "common/macro.h"

static int command_help(int argc, char **argv);
static int command_version(int argc, char **argv);

/* A build without hwloc leaves out the command that needs it. */
#if UNCORE_WITH_VALIDATE
#define WITH_HWLOC(command) command
#else
#define WITH_HWLOC(command) NULL
#endif

static const struct {
	const struct option_table *table;
	int (*run)(int argc, char **argv); /* NULL: the build leaves it out */
} commands[] = {
	{ &stat_table, command_stat },
	{ &top_table, command_top },
	{ &list_table, command_list },
	{ &compare_table, command_compare },
	{ &check_table, command_check },
	{ &run_table, command_run },
	{ &info_table, command_info },
	{ &report_table, command_report },
	{ &tiers_table, command_tiers },
	{ &trace_table, command_trace },
	{ &validate_table, WITH_HWLOC(command_validate) },
	{ &export_table, command_export },
	{ &job_table, command_job },
	{ &owner_table, command_owner },
	{ &help_table, command_help },
	{ &version_table, command_version },
};

/* The table without the commands that this build leaves out. */
static const struct option_table *what_is_here(void)
{
	static const struct option_table *subcommands[ARRAY_SIZE(commands) + 1];
	static struct option_table here;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].run)
			subcommands[n++] = commands[i].table;
	subcommands[n] = NULL;
	here = uncore_table;
	here.subcommands = subcommands;
	return &here;
}

static int say_left_out(const struct option_table *table)
{
	fprintf(stderr,
		"uncore: this build does not have `%s`, which needs hwloc. Use the uncore of the "
		"node, or build it with hwloc.\n",
		table->command);
	return EXIT_USAGE;
}

/* --- help and version --- */

static int command_help(int argc, char **argv)
{
	const struct option_table *table = &uncore_table;
	int status = option_parse(&help_table, argc, argv, NULL, NULL);

	if (status >= 0)
		return status;
	for (; optind < argc; optind++) {
		const struct option_table *next = option_subcommand(table, argv[optind]);

		if (!next)
			return option_no_subcommand(table, argv[optind]);
		table = next;
	}
	option_help(stdout, table == &uncore_table ? what_is_here() : table);
	return 0;
}

static int print_version(void)
{
	printf("uncore %s\n", UNCORE_VERSION);
	return 0;
}

static int command_version(int argc, char **argv)
{
	int status = option_parse(&version_table, argc, argv, NULL, NULL);

	if (status < 0)
		status = option_no_argument(&version_table, argc, argv);
	return status < 0 ? print_version() : status;
}

/* --- the command --- */

/* Words of other tools. */
static const struct {
	const char *word, *say;
} elsewhere[] = {
	{ "record", "uncore run -- COMMAND" },
	{ "events", "uncore list" },
	{ "metrics", "uncore list" },
	{ "status", "uncore info" },
	{ "diff", "uncore compare" },
};

static int command_refuse(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		if (strcmp(word, elsewhere[i].word) == 0)
			return option_complain(&uncore_table, "unknown command %s; say `%s`", word,
				elsewhere[i].say);
	return option_near_subcommand(&uncore_table, word)
		       ? option_no_subcommand(&uncore_table, word)
		       : option_complain(&uncore_table,
				 "unknown command %s; to measure it say `uncore stat -- %s`", word,
				 word);
}

static int command_call(int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(*argv, option_last_word(commands[i].table)) == 0)
			return commands[i].run ? commands[i].run(argc, argv)
					       : say_left_out(commands[i].table);
	if (strcmp(*argv, "__complete") == 0 && argc == 2)
		return complete(argv[1]);
	return command_refuse(*argv);
}

/* Is @word an option like -I, which only `uncore stat` has? */
static bool is_for_stat(const char *word)
{
	for (size_t i = 0; i < stat_table.n_rows; i++)
		if (word[0] == '-' && word[1] && word[1] == stat_table.rows[i].letter)
			return true;
	return false;
}

static int command_run_line(int argc, char **argv)
{
	const struct option_table *here = what_is_here();
	bool version = false;
	int status = argc > 1 && is_for_stat(argv[1])
			     ? option_complain(here,
				       "%s is an option of another command; say `uncore stat %s`",
				       argv[1], argv[1])
			     : option_parse(here, argc, argv, &version, NULL);

	if (status >= 0)
		return status;
	if (version)
		return print_version();
	if (optind < argc)
		return command_call(argc - optind, argv + optind);
	option_help(stderr, here);
	return EXIT_USAGE;
}

/*
 * A report reads thousands of records, one after the other. glibc gives the memory of each back to
 * the kernel, and gets it again for the next one: a fifth of the report's time.
 */
static void keep_freed_memory(void)
{
#ifdef M_TRIM_THRESHOLD
	mallopt(M_TRIM_THRESHOLD, 32 << 20);
#endif
}

int main(int argc, char **argv)
{
	int status;

	keep_freed_memory();
	output_keep_apart();
	child_outlive_file_limit();
	status = command_run_line(argc, argv);

	/* stat checks its own output; this checks the stdout of all commands. */
	if (output_check(stdout, "uncore", "stdout") < 0 && status == 0)
		status = EXIT_FAILED;
	return status;
}
