/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/command.h"
#include "client/command/validate/options.h"

static const struct option_row rows[] = {
	{ "quick", 'q', OPTION_FLAG, NULL,
		"run only what the verdict needs: no evasion, no remote memory",
		OPTION_AT(validate_options, quick) },
	{ "node", 0, OPTION_NUMBERS, "LIST", "run on these NUMA nodes only",
		OPTION_AT(validate_options, nodes), 0, 1023 },
	{ "error", 'e', OPTION_PERCENT, "PERCENT",
		"repeat until the standard error is below PERCENT; default: 1",
		OPTION_AT(validate_options, error), 0.1, 20 },
	{ "time", 't', OPTION_NUMBER, "SECONDS", "run one kernel for at most SECONDS; default: 10",
		OPTION_AT(validate_options, time_s), 1, 3600 },
	{ "cache", 0, OPTION_BYTES, "SIZE",
		"the last-level cache of a node, where the machine reports it wrongly: 8M, 512K, "
		"or bytes",
		OPTION_AT(validate_options, cache_bytes), 1 << 16, UINT64_C(1) << 36 },
	{ "json", 'j', OPTION_FLAG, NULL, "print JSON", OPTION_AT(validate_options, json) },
	{ "html", 0, OPTION_TEXT, "FILE",
		"also write a page for browsers to FILE, which needs no other file",
		OPTION_AT(validate_options, html) },
	{ "report", 0, OPTION_TEXT, "FILE",
		"also write one text to FILE that a site can send in: the machine without its "
		"name, the table, the JSON",
		OPTION_AT(validate_options, report) },
	{ "host-name", 0, OPTION_FLAG, NULL,
		"with --json or --html: print the name of the host, too",
		OPTION_AT(validate_options, host_name) },
	{ "output", 'o', OPTION_TEXT, "FILE", "print to FILE",
		OPTION_AT(validate_options, output_path) },
	{ "keep", 0, OPTION_FLAG, NULL,
		"also write /var/lib/uncored/validated.json, for uncore info (root)",
		OPTION_AT(validate_options, keep) },
	{ "kernel", 'k', OPTION_TAKEN, "NAME", "run this kernel; list prints all of them",
		.heading = "One kernel over cores and sizes, without a verdict:" },
	{ "threads", 0, OPTION_NUMBERS, "LIST",
		"numbers of threads, for example 1-8,16; default: all cores of the node",
		OPTION_AT(validate_options, threads), 1, 1024 },
	{ "size", 0, OPTION_NUMBERS, "LIST", "elements, columns or N, as --kernel list says",
		OPTION_AT(validate_options, sizes), 16, UINT64_C(1) << 34 },
	{ "halo", 0, OPTION_NUMBERS, "LIST",
		"elements behind each row that are left out (halocopy)",
		OPTION_AT(validate_options, halos), 0, 65536 },
	{ "csv", 0, OPTION_FLAG, NULL, "print CSV", OPTION_AT(validate_options, csv) },
	{ "socket", 0, OPTION_TEXT, "PATH",
		"where uncored listens (default: $UNCORE_SOCKET, then /run/uncored/socket)",
		OPTION_AT(validate_options, socket_path), .heading = "With or without a kernel:" },
};

const struct option_table validate_table = {
	.command = "uncore validate",
	.brief = "check the counters by kernels of known traffic",
	.usage = "[OPTION...]",
	.about = "Run kernels whose traffic is known on each NUMA node, and compare it with what "
		 "uncored counts: right, or what is wrong. Needs no privilege; use it while the "
		 "machine is idle.",
	.exits = "0 right; 1 a defect; 3 inconclusive; 125 nothing could be measured, or the "
		 "result could not be written; 2 for a wrong option.",
	OPTION_ROWS(rows),
};
