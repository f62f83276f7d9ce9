/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/report/report-options.h"

static const struct option_row rows[] = {
	{ "keep", 0, OPTION_FLAG, NULL, "do not make uncored forget these jobs",
		OPTION_AT(report_options, keep),
		.heading = "Without FILE, show the regions of your jobs on this node that ended "
			   "without a report, for example because all processes were killed. "
			   "uncored keeps them for an hour, and forgets those that were shown." },
	{ "running", 0, OPTION_FLAG, NULL,
		"show also what jobs that still run did so far, up to the last reading of each "
		"region",
		OPTION_AT(report_options, running) },
	{ "user", 0, OPTION_TAKEN, "USER", "show the jobs of USER, a name or a number (root)" },
	{ "hosts", 0, OPTION_TEXT, "LIST",
		"the nodes of the job, as Slurm writes them, for example n[01-03,7],login1; "
		"those that left no file are named, and the exit status is 1",
		OPTION_AT(report_options, host_list),
		.heading = "With FILE, show the regions of a program or job from the JSON that it "
			   "left (UNCORE_REPORT). Of several files, and of all files *.json and "
			   "*.json.N in a DIR, show the sum of all nodes, each node, and how far "
			   "the nodes differ. Records of one host are never summed: runs one after "
			   "the other have a row each." },
	{ "trust", 0, OPTION_TAKEN, "USER",
		"in a DIR also believe files of USER, a name or a number; may be repeated "
		"(default: root and yourself)" },
	{ "nodes", 0, OPTION_FLAG, NULL, "print each region of each node, however many there are",
		OPTION_AT(report_options, nodes) },
	{ "csv", 0, OPTION_TAKEN, NULL,
		"print CSV: a line for each node, region, socket and metric",
		.heading = "With or without FILE:" },
	{ "json", 'j', OPTION_TAKEN, NULL, "print JSON, as uncore-report(5) describes it" },
};

const struct option_table report_table = {
	.command = "uncore report",
	.brief = "show regions of jobs that were killed, or from files, all nodes joined",
	.usage = "[OPTION...]\n[OPTION...] FILE|DIR...",
	.about = "Show what the regions of programs and jobs moved.",
	.exits = "0, also if there are no jobs to show; 1 if a file could not be read, a host is "
		 "missing, uncored cannot be reached or refuses, or the output could not be "
		 "written; 2 for a wrong option.",
	.needs = "json-c",
	OPTION_ROWS(rows),
};
