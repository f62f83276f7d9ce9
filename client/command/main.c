/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore: shows people what uncored measures. This file only finds the command. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/frame/output.h"
#include "common/macro.h"

/* A build without json-c, or without hwloc, leaves out the commands that need it. */
#if UNCORE_WITH_JSON
#define NEEDS_JSON(command) "json-c", command
#else
#define NEEDS_JSON(command) "json-c", NULL
#endif
#if UNCORE_WITH_VALIDATE
#define NEEDS_JSON_AND_HWLOC(command) "json-c and hwloc", command
#else
#define NEEDS_JSON_AND_HWLOC(command) "json-c and hwloc", NULL
#endif

static struct {
	const char *name;
	char title[20]; /* what getopt(3) begins its complaints with */
	const char *summary;
	const char *needs;
	int (*run)(int argc, char **argv); /* NULL: it is left out */
} commands[] = {
	{ "stat", "uncore stat", "run a command and count what each socket did meanwhile", "",
		command_stat },
	{ "run", "uncore run", "run a job and report its regions, also if it is killed",
		NEEDS_JSON(command_run) },
	{ "info", "uncore info", "show what uncored found, serves and permits",
		NEEDS_JSON(command_info) },
	{ "report", "uncore report",
		"show regions of jobs that were killed, or from files, all nodes joined",
		NEEDS_JSON(command_report) },
	{ "validate", "uncore validate", "check the counters by kernels of known traffic",
		NEEDS_JSON_AND_HWLOC(command_validate) },
	{ "export", "uncore export", "print the counters for monitoring systems", "",
		command_export },
	{ "job", "uncore job", "a record for each job of a batch system (root)",
		NEEDS_JSON(command_job) },
	{ "owner", "uncore owner", "say whose job this node runs (root)",
		NEEDS_JSON(command_owner) },
};

static void write_help(FILE *out)
{
	fprintf(out, "Usage: uncore COMMAND [OPTION...]\n"
		     "Per-socket memory traffic, as uncored measures it.\n\n"
		     "Commands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].run)
			fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fprintf(out, "\n`uncore COMMAND --help` lists the options of a command; --version says the "
		     "release.\n");
}

static int complain(const char *word)
{
	if (word)
		fprintf(stderr,
			"uncore: unknown command %s; to measure it say `uncore stat -- %s`, for "
			"the commands `uncore --help`.\n",
			word, word);
	else
		write_help(stderr);
	return EXIT_USAGE;
}

static int call(size_t number, int argc, char **argv)
{
	if (commands[number].run) {
		optind = 0; /* the command parses its own options, from the beginning */
		*argv = commands[number].title;
		return commands[number].run(argc, argv);
	}
	fprintf(stderr,
		"uncore: this build has no `%s`, which needs %s; use the uncore of the node, or "
		"build it with %s.\n",
		commands[number].title, commands[number].needs, commands[number].needs);
	return EXIT_USAGE;
}

static int bad_option(void)
{
	fprintf(stderr, "See `uncore --help`.\n");
	return EXIT_USAGE;
}

/* Returns -1 to go on with the command at optind, or the exit status. */
static int parse_options(int argc, char **argv)
{
	static const struct option names[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{},
	};
	int letter = getopt_long(argc, argv, "+h", names, NULL);

	if (letter == 'h')
		write_help(stdout);
	else if (letter == 'v')
		printf("uncore %s\n", UNCORE_VERSION);
	else if (letter == -1)
		return -1;
	else
		return bad_option();
	return 0;
}

static int run(int argc, char **argv)
{
	static char title[] = "uncore";
	int status;

	if (argc)
		*argv = title;
	status = parse_options(argc, argv);
	if (status >= 0)
		return status;
	argc -= optind;
	argv += optind;
	for (size_t i = 0; argc && i < ARRAY_SIZE(commands); i++)
		if (strcmp(*argv, commands[i].name) == 0)
			return call(i, argc, argv);
	return complain(*argv);
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
