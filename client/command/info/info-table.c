/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/info/info.h"

static const struct option_row rows[] = {
	{ "verbose", 'v', OPTION_FLAG, NULL,
		"print the whole state: sockets, counters, sources, limits, refusals",
		OPTION_AT(info_options, verbose) },
	{ "json", 'j', OPTION_FLAG, NULL, "print the state as JSON, as it comes from uncored",
		OPTION_AT(info_options, json) },
	{ "explain", 0, OPTION_TEXT, "METRIC",
		"the same as METRIC alone: instead, print how METRIC is computed here: PMUs, "
		"encodings, bytes per count, "
		"alternatives that were tried, and the source of it all",
		OPTION_AT(info_options, metric) },
	{ "clients", 0, OPTION_FLAG, NULL,
		"instead, print who the clients are and what they cost uncored (root)",
		OPTION_AT(info_options, clients) },
	{ "platforms", 0, OPTION_FLAG, NULL,
		"instead, print all platforms that uncored knows, with the source and confidence "
		"of each metric",
		OPTION_AT(info_options, platforms) },
	{ "quiet", 'q', OPTION_FLAG, NULL,
		"instead, print nothing and only say by the exit status whether this user can read "
		"counters; on stderr, why not",
		OPTION_AT(info_options, quiet) },
	COMMAND_SOCKET(info_options, socket_path),
};

const struct option_table info_table = {
	.command = "uncore info",
	.brief = "show whether uncored works here, what it counts, and who may read",
	.usage = "[OPTION...] [METRIC]",
	.about = "Show whether uncored works here, what it counts, what is missing and why, and "
		 "who may read.",
	.exits = "0, also if uncored can only say why it serves nothing; 1 if uncored cannot be "
		 "reached or does not let this user in, the platform does not have METRIC, or the "
		 "output cannot be written; 2 for a wrong option; 3 with --quiet if uncored serves "
		 "nothing.",
	OPTION_ROWS(rows),
};
