/* SPDX-License-Identifier: BSD-3-Clause */
/* The command itself, with all its subcommands, also those that a build leaves out. */
#include "client/command/frame/command.h"

const struct option_table help_table = {
	.command = "uncore help",
	.brief = "print the options of a command",
	.usage = "[COMMAND...]",
	.about = "Print the help of COMMAND, or list the commands.",
};

const struct option_table version_table = {
	.command = "uncore version",
	.brief = "print the release",
	.usage = "[OPTION...]",
	.about = "Print the release of uncore.",
};

static const struct option_table *const subcommands[] = {
	&stat_table,
	&top_table,
	&list_table,
	&compare_table,
	&check_table,
	&run_table,
	&info_table,
	&report_table,
	&tiers_table,
	&trace_table,
	&validate_table,
	&export_table,
	&job_table,
	&owner_table,
	&help_table,
	&version_table,
	NULL,
};

static const struct option_row rows[] = {
	{ "version", 0, OPTION_FLAG, NULL, "print the release", .offset = 0 },
};

const struct option_table uncore_table = {
	.command = "uncore",
	.usage = "COMMAND [OPTION...]\n--help|--version",
	.about = "Per-socket memory traffic, as uncored measures it. `uncore help COMMAND` prints "
		 "the options of a command.",
	OPTION_ROWS(rows),
	.subcommands = subcommands,
	.runs_command = true, /* the command has options of its own */
};
