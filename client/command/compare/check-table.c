/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/compare/compare.h"

static const struct option_row rows[] = {
	{ "against", 0, OPTION_TEXT, "FILE",
		"the baseline: what `uncore check --update`, or `uncore stat -r 10 --json`, wrote",
		OPTION_AT(check_options, against) },
	{ "max-growth", 0, OPTION_PERCENT, "PERCENT", "how much each metric may grow (default: 5)",
		OPTION_AT(check_options, max_growth), 0.01, 1000 },
	{ "time", 't', OPTION_TIME, "TIME",
		"begin no further runs after TIME, but have 3 at least (default: 5m)",
		OPTION_AT(check_options, time_ns), 1e6, 24 * 3600e9 },
	{ "event", 'e', OPTION_TEXT, "METRIC[,METRIC]",
		"judge these metrics only, and dram stands for all of the tier; default: those "
		"that have 1 % of the largest one",
		OPTION_AT(check_options, metrics) },
	{ "markdown", 0, OPTION_TEXT, "FILE", "also write the table to FILE, as Markdown",
		OPTION_AT(check_options, markdown) },
	{ "update", 0, OPTION_FLAG, NULL, "replace the baseline by new runs, and judge nothing",
		OPTION_AT(check_options, update) },
	COMMAND_SOCKET(check_options, socket_path),
};

const struct option_table check_table = {
	.command = "uncore check",
	.brief = "fail if a command moves more bytes than its baseline",
	.usage = "[OPTION...] --against FILE [--] COMMAND [ARGUMENT...]",
	.about = "Run COMMAND as often as it takes to tell whether it moves more bytes than the "
		 "baseline in FILE, for tests of a program's performance.",
	.exits = "0 if no metric grew by more than the limit; 1 if one did; 3 if that cannot be "
		 "told, or this machine counts nothing; 125 if COMMAND failed; 126 or 127 if it "
		 "could not be run; 2 for a wrong option or baseline.",
	OPTION_ROWS(rows),
	.runs_command = true,
};
