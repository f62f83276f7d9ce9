/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/export.h"
#include "client/command/frame/command.h"

static const struct option_row rows[] = {
	{ "output", 'o', OPTION_TEXT, "FILE",
		"replace FILE in one step, for node_exporter's textfile collector",
		OPTION_AT(export_options, output_path) },
	{ "http", 0, OPTION_FLAG, NULL,
		"answer requests for /metrics on the listening sockets, or the connection, that "
		"systemd or inetd passes",
		OPTION_AT(export_options, http) },
	{ "channels", 0, OPTION_FLAG, NULL, "also print the counters of each memory channel",
		OPTION_AT(export_options, wish.channels) },
	{ "clustercockpit", 0, OPTION_FLAG, NULL,
		"print the bandwidth of each socket during one second in InfluxDB's line protocol, "
		"as ClusterCockpit reads it",
		OPTION_AT(export_options, clustercockpit) },
	{ "every", 0, OPTION_NUMBER, "SECONDS",
		"with --clustercockpit: print the bandwidth of each SECONDS without end",
		OPTION_AT(export_options, every_s), 1, 3600 },
	COMMAND_SOCKET(export_options, wish.socket_path),
};

const struct option_table export_table = {
	.command = "uncore export",
	.brief = "print the counters for monitoring systems",
	.usage = "[OPTION...]",
	.about = "Print the counters of all sockets as text for Prometheus.",
	.exits = "0, also if uncored gives no values, which the output then says; 1 if the output "
		 "cannot be written; 2 for a wrong option.",
	OPTION_ROWS(rows),
};
