/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/info/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/command/frame/output.h"
#include "client/command/frame/validated.h"
#include "common/macro.h"
#include "common/text.h"

/* --- parts of the report --- */

static void print_duration(uint64_t ns)
{
	uint64_t s = ns / 1000000000U;

	printf("%" PRIu64 " d %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 86400, s / 3600 % 24,
		s / 60 % 60, s % 60);
}

static void state_print_head(const struct json_value *info)
{
	char text[256];

	snprintf(text, sizeof text, "uncored %s, platform %s%s%s%s",
		json_text(info, "version", "?"), json_text(info, "platform", "?"),
		json_has(info, "title") ? " (" : "", json_text(info, "title", ""),
		json_has(info, "title") ? ")" : "");
	text_fold(stdout, text, 0, 2);
	quality_print_warnings(info);
	if (json_has(info, "refused_configuration"))
		output_line(2,
			"THE CONFIGURATION FILE IS REFUSED, so the one as it was before holds: "
			"%s",
			json_text(info, "refused_configuration", ""));
}

static void print_method(const struct json_value *method)
{
	if (!strcmp(json_text(method, "name", ""), "bpf"))
		output_line(4,
			"%" PRIu64 " boxes are read by a program in the kernel (bpf), in calls of "
			"%.1f us at most",
			json_number(method, "by_program"),
			(double)json_number(method, "longest_call_ns") / 1e3);
	else
		output_line(4, "each box takes a read(2), which is slower and as exact: %s",
			json_text(method, "why", "?"));
}

static void state_print_socket(const struct json_value *socket)
{
	printf("  socket %" PRIu64 ": package %" PRIu64, json_number(socket, "socket"),
		json_number(socket, "package"));
	if (*json_text(socket, "cpu", "") == '-') {
		printf(", without counters\n");
		return;
	}
	printf(", read on CPU %" PRIu64 " %s\n", json_number(socket, "cpu"),
		json_flag(socket, "realtime")
			? "with real-time priority"
			: "without real-time priority: on a busy machine reads take longer");
	output_line(4, "sweeps: %" PRIu64 ", the last took %.1f us; %.3f s of CPU time in all",
		json_number(socket, "sweeps"), (double)json_number(socket, "last_sweep_ns") / 1e3,
		(double)json_number(socket, "cpu_ns") / 1e9);
	print_method(json_member(socket, "method"));
	output_line(4, "clients: %" PRIu64 "; held back by budget or intervals: %" PRIu64,
		json_number(socket, "clients"), json_number(socket, "throttled"));
}

static void print_boxes(const struct json_value *sockets)
{
	JSON_EACH (sockets, socket)
		boxes_print(json_list(socket, "boxes"), json_number(socket, "socket"), NULL);
}

static void print_missing(const struct json_value *entry)
{
	const char *metric = json_text(entry, "metric", "");

	output_line(2, "%s%s%s: %s", json_text(entry, "pmu", "?"), *metric ? ", " : "", metric,
		json_text(entry, "why", "for an unknown reason"));
}

static void state_print_metrics(const struct json_value *metrics)
{
	const int width = json_width(metrics, "name", 12);

	if (json_length(metrics))
		printf("\nMetrics\n");
	JSON_EACH (metrics, metric) {
		const char *source = json_text(metric, "source", "");
		char text[QUALITY_METRIC_MAX];
		int at;

		quality_describe(metric, false, text);
		at = printf("  %-*s %-6s ", width, json_text(metric, "name", "?"),
			json_text(metric, "unit", "?"));
		output_rest((size_t)at, 4, "%s", text);
		if (*source)
			output_line(4, "source: %s (confidence: %s)", source,
				json_text(metric, "confidence", "?"));
	}
}

/* The rules in words, then each key. */
static void print_limits(const struct json_value *policy)
{
	static const struct {
		const char *key;
		const char *text;
	} lines[] = {
		{ "socket", "where clients connect" },
		{ "mode", "permissions of that socket" },
		{ "group", "only its members may connect" },
		{ "users", "only these users may connect" },
		{ "owner", "uid whose job this node runs, see `uncore owner`" },
		{ "min_interval_ms", "between two sweeps of a socket at least" },
		{ "min_interval_per_user_ms", "... that the reads of one user cause" },
		{ "quantum", "bytes that values are rounded down to" },
		{ "quantum_energy", "nJ that energy is rounded down to" },
		{ "max_clients", "connections at most" },
		{ "max_clients_per_user", "... of one user" },
		{ "requests_per_second", "of one connection, before it must wait" },
		{ "budget_percent", "of one CPU for the sweeps of a socket" },
		{ "burst_ms", "of sweep time that may be saved up" },
	};

	if (json_has(policy, "words")) {
		fputs("  ", stdout);
		text_fold(stdout, json_text(policy, "words", ""), 2, 4);
	}
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (*json_text(policy, lines[i].key, ""))
			printf("  %-24s %-6s %s\n", lines[i].key,
				json_text(policy, lines[i].key, ""), lines[i].text);
}

/* Prints whether a restart will keep the counts, and whether the last one did. */
static void print_continuity(const struct json_value *info)
{
	if (!json_has(info, "kept"))
		return;
	output_line(2, "Totals %s%s.",
		json_flag(info, "kept")
			? "outlive a restart of uncored"
			: "do not outlive a restart of uncored: no service manager keeps them",
		json_flag(info, "resumed") ? ", and continue those of the uncored before" : "");
}

static void print_teams(const struct json_value *teams)
{
	if (json_number(teams, "kept"))
		output_line(2,
			"%" PRIu64 " tables of teams are kept, %" PRIu64
			" of them of teams that are running",
			json_number(teams, "kept"), json_number(teams, "alive"));
}

static void print_service(const struct json_value *info)
{
	const struct json_value *by_rule = json_member(info, "refusals");

	printf("\nState\n  generation %s, up ", json_text(info, "generation", "?"));
	print_duration(json_number(info, "uptime_ns"));
	printf("\n");
	print_continuity(info);
	output_line(2,
		"clients: %" PRIu64 " (this one included); refused requests and connections: "
		"%" PRIu64,
		json_number(info, "clients"), json_number(info, "refused"));
	print_teams(json_member(info, "teams"));
	JSON_EACH (by_rule, rule)
		if (json_count(rule + 1))
			printf("    %s: %" PRIu64 "\n", rule->at, json_count(rule + 1));
}

/* Prints a heading and its entries; nothing if there are none. */
static void print_list(const char *heading, const struct json_value *list,
	void (*print_entry)(const struct json_value *entry))
{
	if (json_length(list))
		printf("\n%s\n", heading);
	JSON_EACH (list, entry)
		print_entry(entry);
}

void state_print(const struct json_value *info, const char *socket_path, bool verbose)
{
	const struct json_value *sockets = json_list(info, "sockets");

	state_print_head(info);
	summary_print(info, socket_path);
	if (!verbose) {
		printf("\n`uncore info -v` says more; `uncore stat -- ./app` counts what ./app "
		       "moves.\n");
		return;
	}
	print_list("Sockets", sockets, state_print_socket);
	printf("\nCounters found\n");
	print_boxes(sockets);
	print_list("Not found", json_list(info, "missing"), print_missing);
	state_print_metrics(json_list(info, "metrics"));
	validated_print(json_text(info, "platform", ""));
	printf("\nPolicy and limits\n");
	print_limits(json_member(info, "policy"));
	print_service(info);
}
