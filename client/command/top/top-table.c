/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/top/top-options.h"

static const struct option_row top_rows[] = {
	{ "interval", 'I', OPTION_TIME, "TIME",
		"show the rates of every TIME, 1s unless told; a number alone is in milliseconds",
		OPTION_AT(top_options, interval_ns), 100e6, 3600e9 },
	COMMAND_SOCKET(top_options, socket_path),
};

const struct option_table top_table = {
	.command = "uncore top",
	.brief = "watch what the sockets do, on the whole screen",
	.usage = "[OPTION...]",
	.about = "Show the rates of each socket's memory on the screen, until q. The figures "
		 "include the traffic of all programs. The key h explains the others.",
	.exits = "0 after q; 128 + n if signal n ended it; 1 if uncored could not be reached at "
		 "the begin, or the terminal is gone; 2 for a wrong option, and where there is no "
		 "terminal.",
	OPTION_ROWS(top_rows),
};
