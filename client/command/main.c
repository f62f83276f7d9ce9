/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore: shows people what uncored measures. This file only finds the command. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "client/command/complete.h"
#include "client/command/frame/command.h"
#include "client/command/frame/output.h"
#include "common/macro.h"

static int command_help(int argc, char **argv);
static int command_version(int argc, char **argv);

/* A build without json-c, or without hwloc, leaves out the commands that need it. */
#if UNCORE_WITH_JSON
#define WITH_JSON(command) command
#else
#define WITH_JSON(command) NULL
#endif
#if UNCORE_WITH_VALIDATE
#define WITH_JSON_AND_HWLOC(command) command
#else
#define WITH_JSON_AND_HWLOC(command) NULL
#endif

static const struct {
	const struct option_table *table;
	int (*run)(int argc, char **argv); /* NULL: the build leaves it out */
} commands[] = {
	{ &stat_table, command_stat },
	{ &run_table, WITH_JSON(command_run) },
	{ &info_table, WITH_JSON(command_info) },
	{ &report_table, WITH_JSON(command_report) },
	{ &validate_table, WITH_JSON_AND_HWLOC(command_validate) },
	{ &export_table, command_export },
	{ &job_table, WITH_JSON(command_job) },
	{ &owner_table, WITH_JSON(command_owner) },
	{ &help_table, command_help },
	{ &version_table, command_version },
};

static bool is_here(const struct option_table *table)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].table == table)
			return commands[i].run;
	return true; /* a subcommand of one that is here */
}

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
		"uncore: this build does not have `%s`, which needs %s. Use the uncore of the "
		"node, or build it with %s.\n",
		table->command, table->needs, table->needs);
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
		if (!is_here(next))
			return say_left_out(next);
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

static int refuse(const char *word)
{
	return option_near_subcommand(&uncore_table, word)
		       ? option_no_subcommand(&uncore_table, word)
		       : option_complain(&uncore_table,
				 "unknown command %s; to measure it say `uncore stat -- %s`", word,
				 word);
}

static int call(int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(*argv, option_last_word(commands[i].table)) == 0)
			return commands[i].run ? commands[i].run(argc, argv)
					       : say_left_out(commands[i].table);
	if (strcmp(*argv, "__complete") == 0 && argc == 2)
		return complete(argv[1]);
	return refuse(*argv);
}

static int run(int argc, char **argv)
{
	const struct option_table *here = what_is_here();
	bool version = false;
	int status = option_parse(here, argc, argv, &version, NULL);

	if (status >= 0)
		return status;
	if (version)
		return print_version();
	if (optind < argc)
		return call(argc - optind, argv + optind);
	option_help(stderr, here);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	int status;

	output_keep_apart();
	status = run(argc, argv);

	/* stat checks its own output; this checks the stdout of all commands. */
	if (output_check(stdout, "uncore", "stdout") < 0 && status == 0)
		status = EXIT_FAILED;
	return status;
}
