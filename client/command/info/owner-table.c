/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/info/info.h"

static const struct option_row rows[] = {
	{ "none", 0, OPTION_FLAG, NULL, "the node runs nobody's job",
		OPTION_AT(owner_options, none) },
	COMMAND_SOCKET(owner_options, socket_path),
};

const struct option_table owner_table = {
	.command = "uncore owner",
	.brief = "say whose job this node runs (root)",
	.usage = "[OPTION...] [USER]",
	.about = "Say that the node runs a job of USER (a name or a number) from now on; without "
		 "USER, show whose job it runs. Where uncored.conf has owner_only = yes, only the "
		 "owner and root may read, and everybody else is cut off at once. Only root may "
		 "change it; a batch system does so before and after each job.",
	.exits = "0; 1 if this machine does not have USER, or uncored cannot be reached or "
		 "refuses; 2 for a wrong option.",
	OPTION_ROWS(rows),
};
