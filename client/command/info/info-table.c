/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/info/info-options.h"

static const struct option_row rows[] = {
	{ "json", 'j', OPTION_FLAG, NULL, "print the state as JSON, as it comes from uncored",
		OPTION_AT(info_options, json) },
	{ "explain", 0, OPTION_TEXT, "METRIC",
		"instead, print how METRIC is computed here: PMUs, encodings, bytes per count, "
		"alternatives that were tried, and the source of it all",
		OPTION_AT(info_options, metric) },
	{ "clients", 0, OPTION_FLAG, NULL,
		"instead, print who the clients are and what they cost uncored (root)",
		OPTION_AT(info_options, clients) },
	{ "platforms", 0, OPTION_FLAG, NULL,
		"instead, print all platforms that uncored knows, with the source and confidence "
		"of each metric",
		OPTION_AT(info_options, platforms) },
	COMMAND_SOCKET(info_options, socket_path),
};

const struct option_table info_table = {
	.command = "uncore info",
	.brief = "show what uncored found, serves and permits",
	.usage = "[OPTION...]",
	.about = "Show the platform, which counters were found and which were not, and why, the "
		 "metrics, the policy and the state of uncored.",
	.exits = "0, also if uncored can only say why it serves nothing; 1 if uncored cannot be "
		 "reached or does not let this user in, the platform does not have METRIC, or the "
		 "output cannot be written; 2 for a wrong option.",
	.needs = "json-c",
	OPTION_ROWS(rows),
};
