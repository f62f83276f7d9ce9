/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/tiers/tiers.h"

static const struct option_row rows[] = {
	{ "pid", 'p', OPTION_NUMBERS, "PID[,PID]",
		"also show on which nodes the memory of these processes is; they must be one's own",
		OPTION_AT(tiers_options, pids), 1, INT32_MAX },
	{ "interval", 'I', OPTION_TIME, "TIME",
		"show it again every TIME, until Ctrl-C or the end of the processes; a number "
		"alone "
		"is in milliseconds",
		OPTION_AT(tiers_options, interval_ns), 100e6, 3600e9 },
	{ "json", 'j', OPTION_FLAG, NULL, "print JSON; with -I one object per line",
		OPTION_AT(tiers_options, json) },
	{ "csv", 0, OPTION_FLAG, NULL, "print CSV", OPTION_AT(tiers_options, csv) },
	COMMAND_SOCKET(tiers_options, socket_path),
};

const struct option_table tiers_table = {
	.command = "uncore tiers",
	.brief = "show the tiers of memory, their use and their traffic",
	.usage = "[OPTION...]",
	.about = "Show which kind of memory each NUMA node has and how much of it is used, the "
		 "pages of processes on it, and what the sockets moved from and to each tier in a "
		 "second.",
	.exits = "0, also without uncored, whose figures are then absent with the reason; 1 if the "
		 "kernel shows no NUMA node, no process of -p can be read, or the output cannot be "
		 "written; 128 + n if signal n ended it; 2 for a wrong option.",
	OPTION_ROWS(rows),
};
