/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/info/state-print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/command/frame/validated.h"
#include "client/command/info/boxes.h"
#include "client/command/info/limits.h"
#include "client/command/info/quality.h"
#include "client/records/json.h"

/* --- parts of the report --- */

static void print_duration(uint64_t ns)
{
	uint64_t s = ns / 1000000000U;

	printf("%" PRIu64 " d %02" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 86400, s / 3600 % 24,
		s / 60 % 60, s % 60);
}

static void print_head(struct json_object *info)
{
	const char *title = json_text(info, "title", "");

	printf("uncored %s, platform %s", json_text(info, "version", "?"),
		json_text(info, "platform", "?"));
	printf(*title ? " (%s)\n" : "\n", title);
	quality_print_warnings(info);
	if (json_has(info, "refused_configuration"))
		printf("  THE CONFIGURATION FILE IS REFUSED, so the one as it was before holds: "
		       "%s\n",
			json_text(info, "refused_configuration", ""));
	printf("  generation %s, up ", json_text(info, "generation", "?"));
	print_duration(json_number(info, "uptime_ns"));
	printf("\n");
}

static void print_socket(struct json_object *socket)
{
	printf("  socket %" PRIu64 ": package %" PRIu64, json_number(socket, "socket"),
		json_number(socket, "package"));
	if (json_object_get_int64(json_member(socket, "cpu")) < 0) {
		printf(", without counters\n");
		return;
	}
	printf(", read on CPU %" PRIu64 " %s\n", json_number(socket, "cpu"),
		json_flag(socket, "realtime")
			? "with real-time priority"
			: "without real-time priority: on a busy machine reads take longer");
	printf("    %" PRIu64 " sweeps, the last took %.1f us; %.3f s of CPU time in all\n",
		json_number(socket, "sweeps"), (double)json_number(socket, "last_sweep_ns") / 1e3,
		(double)json_number(socket, "cpu_ns") / 1e9);
	printf("    %" PRIu64 " clients; held back by budget or intervals %" PRIu64 " times\n",
		json_number(socket, "clients"), json_number(socket, "throttled"));
}

static void print_boxes(struct json_object *sockets)
{
	for (size_t i = 0; i < json_length(sockets); i++) {
		struct json_object *socket = json_object_array_get_idx(sockets, i);

		boxes_print(json_list(socket, "boxes"), json_number(socket, "socket"));
	}
}

static void print_missing(struct json_object *entry)
{
	const char *metric = json_text(entry, "metric", "");

	printf("  %s%s%s: %s\n", json_text(entry, "pmu", "?"), *metric ? ", " : "", metric,
		json_text(entry, "why", "for an unknown reason"));
}

/* How the counters of the metric's check compare, if it has one. */
static void format_check(struct json_object *socket, char *buffer, size_t size_bytes)
{
	double ratio = json_object_get_double(json_member(socket, "check_ratio"));

	*buffer = '\0';
	if (json_has(socket, "taken_from"))
		snprintf(buffer, size_bytes, ", counted by %s in its place",
			json_text(socket, "taken_from", ""));
	else if (json_has(socket, "check_ratio"))
		snprintf(buffer, size_bytes, ", %.3f times what its check counts%s", ratio,
			ratio < 0.9 || ratio > 1.1 ? ": THE TWO DISAGREE" : "");
}

static void format_quality(struct json_object *socket, char *buffer, size_t size_bytes)
{
	size_t used = quality_format(socket, buffer, size_bytes);

	format_check(socket, buffer + used, size_bytes - used);
}

/* One line if all sockets agree, else one for each. */
static void print_qualities(struct json_object *sockets)
{
	char first[QUALITY_TEXT_MAX] = "", text[QUALITY_TEXT_MAX];
	bool agree = true;

	for (size_t i = 0; i < json_length(sockets); i++) {
		format_quality(json_object_array_get_idx(sockets, i), text, sizeof text);
		if (i == 0)
			strcpy(first, text);
		agree &= !strcmp(first, text);
	}
	if (agree) {
		printf("%s\n", first);
		return;
	}
	printf("\n");
	for (size_t i = 0; i < json_length(sockets); i++) {
		struct json_object *socket = json_object_array_get_idx(sockets, i);

		format_quality(socket, text, sizeof text);
		printf("    socket %" PRIu64 ": %s\n", json_number(socket, "socket"), text);
	}
}

static void print_metric(struct json_object *metric)
{
	const char *source = json_text(metric, "source", "");

	printf("  %-12s %-6s ", json_text(metric, "name", "?"), json_text(metric, "unit", "?"));
	print_qualities(json_list(metric, "sockets"));
	if (*source)
		printf("    source: %s (confidence: %s)\n", source,
			json_text(metric, "confidence", "?"));
}

/* Prints whether a restart will keep the counts, and whether the last one did. */
static void print_continuity(struct json_object *info)
{
	if (!json_has(info, "kept"))
		return;
	printf("  Totals %s%s.\n",
		json_flag(info, "kept")
			? "outlive a restart of uncored"
			: "do not outlive a restart of uncored: no service manager keeps them",
		json_flag(info, "resumed") ? ", and continue those of the uncored before" : "");
}

static void print_teams(struct json_object *teams)
{
	if (json_number(teams, "kept"))
		printf("  %" PRIu64 " tables of teams are kept, %" PRIu64
		       " of them of teams that are running\n",
			json_number(teams, "kept"), json_number(teams, "alive"));
}

static void print_service(struct json_object *info)
{
	struct json_object *by_rule = json_member(info, "refusals");

	printf("\nState\n");
	print_continuity(info);
	printf("  %" PRIu64 " clients (this one included), %" PRIu64
	       " requests or connections refused\n",
		json_number(info, "clients"), json_number(info, "refused"));
	print_teams(json_member(info, "teams"));
	if (!json_object_is_type(by_rule, json_type_object))
		return;
	json_object_object_foreach(by_rule, rule, n)
	{
		if (json_object_get_uint64(n))
			printf("    %s: %" PRIu64 "\n", rule, json_object_get_uint64(n));
	}
}

static void print_warning(struct json_object *warning)
{
	printf("  %s\n", json_object_get_string(warning));
}

/* Prints a heading and its entries; nothing if there are none. */
static void print_list(const char *heading, struct json_object *list,
	void (*print_entry)(struct json_object *entry))
{
	if (json_length(list))
		printf("\n%s\n", heading);
	for (size_t i = 0; i < json_length(list); i++)
		print_entry(json_object_array_get_idx(list, i));
}

static void print_validated(struct json_object *info)
{
	struct json_object *report = validated_read(json_text(info, "platform", ""));

	validated_print(report);
	validated_free(report);
}

void state_print(struct json_object *info)
{
	struct json_object *sockets = json_list(info, "sockets");

	print_head(info);
	print_list("Sockets", sockets, print_socket);
	printf("\nCounters found\n");
	print_boxes(sockets);
	print_list("Not found", json_list(info, "missing"), print_missing);
	print_list("Metrics", json_list(info, "metrics"), print_metric);
	print_validated(info);
	printf("\nPolicy and limits\n");
	limits_print(json_member(info, "policy"));
	print_service(info);
	print_list("Warnings", json_list(info, "warnings"), print_warning);
}
