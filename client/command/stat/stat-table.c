/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/stat/stat-options.h"

static const struct option_row rows[] = {
	{ "for", 0, OPTION_TIME, "TIME", "without COMMAND: end after TIME, instead of at Ctrl-C",
		OPTION_AT(stat_options, for_ns), 100e6, 8760 * 3600e9 },
	{ "pid", 'p', OPTION_TEXT, "PID[,PID]",
		"without COMMAND: end when these processes have ended; all that the sockets do "
		"meanwhile is counted, not only these processes",
		OPTION_AT(stat_options, pids) },
	{ "interval", 'I', OPTION_TIME, "TIME",
		"also print the rates of every TIME in a line; a number alone is in milliseconds",
		OPTION_AT(stat_options, interval_ns), 10e6, 3600e9 },
	{ "event", 'e', OPTION_TEXT, "METRIC[,METRIC]",
		"show these metrics only, of those that `uncore list` has; dram stands for all of "
		"dram",
		OPTION_AT(stat_options, metrics) },
	{ "channels", 0, OPTION_FLAG, NULL, "show each memory channel of the sockets, too",
		OPTION_AT(stat_options, channels) },
	{ "nodes", 0, OPTION_FLAG, NULL,
		"show each NUMA node of the sockets, too, where it is known which channels it has",
		OPTION_AT(stat_options, nodes) },
	{ "baseline", 0, OPTION_TIME, "TIME",
		"before the first run, measure for TIME what the sockets do without COMMAND, and "
		"show that rate beside",
		OPTION_AT(stat_options, baseline_ns), 100e6, 3600e9 },
	{ "subtract", 0, OPTION_FLAG, NULL,
		"show counts without that background, too, with their error; without --baseline "
		"it is measured for 1s",
		OPTION_AT(stat_options, subtract) },
	{ "repeat", 'r', OPTION_NUMBER, "N",
		"run COMMAND N times, and print mean, standard deviation, median, minimum and "
		"maximum",
		OPTION_AT(stat_options, repeat), 1, 10000 },
	{ "until", 0, OPTION_PERCENT, "PERCENT",
		"run COMMAND until the standard error of every metric's mean is below PERCENT of "
		"it, 3 times at least, and at most N times with -r N, otherwise 100",
		OPTION_AT(stat_options, until), 0.01, 50 },
	{ "warmup", 0, OPTION_NUMBER, "N", "first run COMMAND N times without measuring it",
		OPTION_AT(stat_options, warmup), 0, 10000 },
	{ "prepare", 0, OPTION_TEXT, "COMMAND",
		"before each run, let a shell run this COMMAND, which is not measured",
		OPTION_AT(stat_options, prepare) },
	{ "delay", 'D', OPTION_TIME, "TIME", "begin to measure TIME after COMMAND has begun",
		OPTION_AT(stat_options, delay_ns), 10e6, 24 * 3600e9 },
	{ "first-of-node", 0, OPTION_FLAG, NULL,
		"measure in the first rank of this node only; the others run COMMAND without any "
		"measurement",
		OPTION_AT(stat_options, first_of_node) },
	{ "anyway", 0, OPTION_FLAG, NULL, "run COMMAND even if nothing can be measured",
		OPTION_AT(stat_options, anyway) },
	{ "json", 'j', OPTION_FLAG, NULL, "print JSON; with -I one object per line",
		OPTION_AT(stat_options, json) },
	{ "csv", 0, OPTION_FLAG, NULL, "print CSV", OPTION_AT(stat_options, csv) },
	{ "field-separator", 'x', OPTION_TEXT, "SEPARATOR",
		"print CSV with this character between its fields",
		OPTION_AT(stat_options, separator) },
	{ "metric-only", 0, OPTION_FLAG, NULL, "print nothing but a line of rates below a heading",
		OPTION_AT(stat_options, metric_only) },
	{ "output", 'o', OPTION_TEXT, "FILE",
		"print to FILE instead of stderr; in its name %h is the host, %r the rank, %j the "
		"job, %p the process id, and %% a %",
		OPTION_AT(stat_options, output) },
	{ "html", 0, OPTION_TEXT, "FILE",
		"also write a page for browsers to FILE, which needs no other file: the rates over "
		"time, of every TIME of -I or of 100ms, and all figures; the name as with -o",
		OPTION_AT(stat_options, html) },
	{ "trace", 0, OPTION_TEXT, "FILE",
		"also write the rates over time to FILE, as a trace for ui.perfetto.dev; the times "
		"and the name as with --html",
		OPTION_AT(stat_options, trace) },
	{ "append", 0, OPTION_FLAG, NULL, "keep what FILE has, and print behind it",
		OPTION_AT(stat_options, append) },
	{ "all-cpus", 'a', OPTION_FLAG, NULL,
		"nothing, since whole sockets are always counted; perf has this option",
		OPTION_AT(stat_options, all_cpus) },
	COMMAND_SOCKET(stat_options, socket_path),
};

const struct option_table stat_table = {
	.command = "uncore stat",
	.brief = "count what each socket did while a command ran, or until Ctrl-C",
	.usage = "[OPTION...] [--] COMMAND [ARGUMENT...]\n[OPTION...] [--for TIME] [-p PID[,PID]]",
	.about = "Run COMMAND and count what each socket's memory did meanwhile; without COMMAND, "
		 "count until Ctrl-C. The figures include the traffic of all other programs. They "
		 "go to stderr.",
	.exits = "that of COMMAND, or without one 0 after --for or -p, and 130 after Ctrl-C; 128 + "
		 "n if signal n ended it; 127 if it was not found, 126 if "
		 "it could not be run; 125 if nothing could be measured or the figures could not "
		 "be written, though COMMAND, if it was run at all, ended with 0 (never with "
		 "--anyway); 2 for a wrong option.",
	OPTION_ROWS(rows),
	.runs_command = true,
};

static const struct option_row list_rows[] = {
	COMMAND_SOCKET(stat_options, socket_path),
};

const struct option_table list_table = {
	.command = "uncore list",
	.brief = "list the metrics of this machine",
	.usage = "[OPTION...]",
	.about = "List the metrics that uncored has here, with their units, and why one is absent. "
		 "`uncore info --explain METRIC` says how one is counted; `perf list` has the "
		 "events of cores.",
	.exits = "0; 1 if uncored cannot be reached, or does not let this user in; 2 for a wrong "
		 "option.",
	OPTION_ROWS(list_rows),
};
