/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/trace/trace-options.h"

static const struct option_row trace_rows[] = {
	{ "output", 'o', OPTION_TEXT, "FILE", "write to FILE, instead of stdout",
		OPTION_AT(trace_options, output) },
};

const struct option_table trace_table = {
	.command = "uncore trace",
	.brief = "make a timeline of the regions of processes",
	.usage = "[-o FILE] RING...",
	.about =
		"Join the files that processes wrote by UNCORE_TRACE=RING.%h.%p into one trace for "
		"ui.perfetto.dev: a track for each thread with its regions, one for each socket "
		"with its rates, and one for the team with both.",
	.exits = "0; 1 if a file is not such a RING, or cannot be read, or the output cannot be "
		 "written; 2 for a wrong option.",
	OPTION_ROWS(trace_rows),
};
