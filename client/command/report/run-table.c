/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/report/run-options.h"

static const struct option_row rows[] = {
	{ "output", 'o', OPTION_TEXT, "FILE",
		"write the report as JSON to FILE, as UNCORE_REPORT does; in its name %h is the "
		"host, %j the job, %r the rank, and %p a process id",
		OPTION_AT(run_options, output) },
	{ "markers", 0, OPTION_TEXT, "LIST",
		"make regions of the marks that the program carries for other tools: auto, or "
		"names with commas, such as likwid,mpi",
		OPTION_AT(run_options, markers) },
	{ "heap", 0, OPTION_FLAG, NULL,
		"write beside the report which arrays were there in each region, for `uncore "
		"report --arrays`; UNCORE_HEAP names another file",
		OPTION_AT(run_options, heap) },
	{ "verdict", 0, OPTION_FLAG, NULL,
		"say what the sockets did while COMMAND ran, also if it has regions",
		OPTION_AT(run_options, verdict) },
};

const struct option_table run_table = {
	.command = "uncore run",
	.brief = "run a job and report its regions or its course, also if it is killed",
	.usage = "[OPTION...] [--] COMMAND [ARGUMENT...]",
	.about = "Run COMMAND, for example mpirun, and report the regions that its processes on "
		 "this node had, even if all of them are killed. The last process that ends "
		 "writes the report, a table on stderr without -o. uncore run writes it if none "
		 "of them could. What the sockets did while a job without regions ran goes to "
		 "stderr.",
	.exits = "that of COMMAND; 128 + n if signal n ended it; 126 if it cannot be run, 127 if "
		 "it was not found; 2 for a wrong option.",
	OPTION_ROWS(rows),
	.runs_command = true,
};
