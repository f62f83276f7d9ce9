/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/report/report-options.h"

#define TRUST                                                                                      \
	{                                                                                          \
		"trust", 0, OPTION_TAKEN, "USER",                                                  \
			"in a DIR also believe files of USER, a name or a number; may be "         \
			"repeated "                                                                \
			"(default: root and yourself)"                                             \
	}
#define HTML                                                                                       \
	{                                                                                          \
		"html", 0, OPTION_TEXT, "FILE",                                                    \
			"also write a page for browsers to FILE, which needs no other file",       \
			OPTION_AT(report_options, html)                                            \
	}
#define JSON                                                                                       \
	{                                                                                          \
		"json", 'j', OPTION_TAKEN, NULL, "print JSON, as uncore-report(5) describes it"    \
	}

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
			   "left (UNCORE_REPORT), and what jobs of a batch system moved (uncore "
			   "job end). Of several files, and of all files *.json and "
			   "*.json.N in a DIR, show the sum of all nodes, each node, and how far "
			   "the nodes differ. Records of one host are never summed: runs one after "
			   "the other have a row each." },
	TRUST,
	{ "job", 0, OPTION_TEXT, "ID",
		"show the records of job ID alone; of files JOB@*.json in a DIR, those of other "
		"jobs are not read",
		OPTION_AT(report_options, job) },
	{ "nodes", 0, OPTION_FLAG, NULL, "print each region of each node, however many there are",
		OPTION_AT(report_options, nodes) },
	{ "candidates", 0, OPTION_PERCENT, "PERCENT",
		"show the regions that move at least PERCENT (default: 50) of the most that is "
		"possible, those with the most misses or bytes first: candidates for faster "
		"memory",
		OPTION_AT(report_options, candidates), 1, 100, .otherwise = "50" },
	{ "arrays", 0, OPTION_FLAG, NULL,
		"show which arrays were there in each region, from the files that `uncore run "
		"--heap` left, given beside the records or alone",
		OPTION_AT(report_options, arrays) },
	{ "predict", 0, OPTION_TAKEN, "UNIT=BYTES",
		"show BYTES that a unit of work is predicted to move beside what it moved: "
		"cells=304, or SOLVE:cells=304 for one region; may be repeated" },
	{ "merge", 0, OPTION_FLAG, NULL,
		"show runs that measured different things side by side, by region: FILEs of "
		"records, and FILEs *.csv of other tools with the columns region, perhaps rank, "
		"and numbers",
		OPTION_AT(report_options, merge) },
	{ "csv", 0, OPTION_TAKEN, NULL,
		"print CSV: a line for each node, region, socket and metric",
		.heading = "With or without FILE:" },
	HTML,
	{ "against", 0, OPTION_TEXT, "FILE",
		"with --html and FILE: compare each region with an older `uncore report --json`, "
		"as "
		"`uncore compare` does",
		OPTION_AT(report_options, against) },
	JSON,
};

const struct option_table report_table = {
	.command = "uncore report",
	.brief = "show regions of jobs that were killed, or of files, nodes joined",
	.usage = "[OPTION...]\n[OPTION...] FILE|DIR|-...",
	.about = "Show what the regions of programs and jobs moved.",
	.exits = "0, also if there are no jobs to show; 1 if a file could not be read, a host is "
		 "missing, uncored cannot be reached or refuses, or the output could not be "
		 "written; 2 for a wrong option.",
	OPTION_ROWS(rows),
};

static const struct option_row job_rows[] = {
	{ "hosts", 0, OPTION_TEXT, "LIST",
		"the nodes that the job had, as Slurm writes them; those without a complete record "
		"are named, and the exit status is 1",
		OPTION_AT(report_options, host_list) },
	{ "run", 0, OPTION_TAKEN, "KEY", "this run of several (default: the last)" },
	{ "all", 0, OPTION_FLAG, NULL, "all runs", OPTION_AT(report_options, all_runs) },
	TRUST,
	{ "nodes", 0, OPTION_FLAG, NULL, "print each node, however many there are",
		OPTION_AT(report_options, nodes) },
	HTML,
	{ "csv", 0, OPTION_TAKEN, NULL, "print CSV, as uncore report does: uncore-report(5)" },
	JSON,
};

const struct option_table job_report_table = {
	.command = "uncore job report",
	.brief = "join the records of a job's nodes",
	.usage = "ID [OPTION...] [FILE|DIR|-...]",
	.about = "Join the records of job ID that its nodes wrote (default: those in "
		 "/var/lib/uncored-jobs); - is stdin.",
	.exits = "0; 1 if there is no such job, or a host has no complete record; 2 for a wrong "
		 "option.",
	OPTION_ROWS(job_rows),
};
