/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/stat/stat-options.h"

static const struct option_row rows[] = {
	{ "interval", 'I', OPTION_NUMBER, "MS", "also print the traffic of every MS milliseconds",
		OPTION_AT(stat_options, interval_ms), 10, 3600000 },
	{ "repeat", 'r', OPTION_NUMBER, "N",
		"run COMMAND N times, and print mean, standard deviation, median, minimum and "
		"maximum",
		OPTION_AT(stat_options, repeat), 1, 10000 },
	{ "until", 0, OPTION_PERCENT, "PERCENT",
		"run COMMAND until the standard error of every metric's mean is below PERCENT of "
		"it, 3 times at least, and at most N times with -r N, otherwise 100",
		OPTION_AT(stat_options, until), 0.01, 50 },
	{ "first-of-node", 0, OPTION_FLAG, NULL,
		"measure in the first rank of this node only; the others run COMMAND without any "
		"measurement",
		OPTION_AT(stat_options, first_of_node) },
	{ "anyway", 0, OPTION_FLAG, NULL, "run COMMAND even if nothing can be measured",
		OPTION_AT(stat_options, anyway) },
	{ "json", 'j', OPTION_FLAG, NULL, "print JSON; with -I one object per line",
		OPTION_AT(stat_options, json) },
	{ "csv", 0, OPTION_FLAG, NULL, "print CSV", OPTION_AT(stat_options, csv) },
	{ "output", 'o', OPTION_TEXT, "FILE",
		"print to FILE instead of stderr; in its name %h is the host, %r the rank, %j the "
		"job, %p the process id, and %% a %",
		OPTION_AT(stat_options, output) },
	COMMAND_SOCKET(stat_options, socket_path),
};

const struct option_table stat_table = {
	.command = "uncore stat",
	.brief = "run a command and count what each socket did meanwhile",
	.usage = "[OPTION...] [--] COMMAND [ARGUMENT...]",
	.about = "Run COMMAND and count what each socket's memory did meanwhile. The figures "
		 "include the traffic of all other programs. They go to stderr.",
	.exits = "that of COMMAND; 128 + n if signal n ended it; 127 if it was not found, 126 if "
		 "it could not be run; 125 if nothing could be measured or the figures could not "
		 "be written, though COMMAND, if it was run at all, ended with 0 (never with "
		 "--anyway); 2 for a wrong option.",
	OPTION_ROWS(rows),
	.runs_command = true,
};
