/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"

static const struct option_row rows[] = {
	{ "output", 'o', OPTION_TEXT, "FILE",
		"write the report as JSON to FILE, as UNCORE_REPORT does; in its name %h is the "
		"host, %j the job, %r the rank, and %p a process id" },
};

const struct option_table run_table = {
	.command = "uncore run",
	.brief = "run a job and report its regions, also if it is killed",
	.usage = "[OPTION...] [--] COMMAND [ARGUMENT...]",
	.about = "Run COMMAND, for example mpirun, and report the regions that its processes on "
		 "this node had, even if all of them are killed. The last process that ends "
		 "writes the report, a table on stderr without -o. uncore run writes it if none "
		 "of them could.",
	.exits = "that of COMMAND; 128 + n if signal n ended it; 126 if it cannot be run, 127 if "
		 "it was not found; 2 for a wrong option.",
	.needs = "json-c",
	OPTION_ROWS(rows),
	.runs_command = true,
};
