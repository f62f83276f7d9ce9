/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/info/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/command/frame/output.h"
#include "common/macro.h"

/* --- one metric --- */

static const struct json_value *explain_find_named(const struct json_value *list, const char *name)
{
	JSON_EACH (list, entry)
		if (strcmp(json_text(entry, "name", ""), name) == 0)
			return entry;
	return NULL;
}

static void print_formula(const struct json_value *terms, const char *unit)
{
	JSON_EACH (terms, term) {
		/* What a count is worth: "64", or "64/9". */
		const char *worth = json_text(term, "scale", json_text(term, "bytes", "0"));

		printf("  %s %s %s x each count of %s\n",
			json_flag(term, "subtract") ? "less"
			: term != terms + 1         ? "plus"
						    : "is  ",
			worth, unit, json_text(term, "event", "?"));
		printf("       on every PMU named %s\n", json_text(term, "pmu", "?"));
		if (json_has(term, "optional"))
			output_line(
				7, "where there is one; else: %s", json_text(term, "optional", ""));
		if (json_has(term, "clock"))
			printf("       watched by its clock %s\n", json_text(term, "clock", ""));
	}
}

static void print_origin(const struct json_value *metric)
{
	if (json_has(metric, "source"))
		output_line(2, "source: %s (confidence: %s)", json_text(metric, "source", ""),
			json_text(metric, "confidence", "?"));
	if (json_has(metric, "measured"))
		output_line(2, "measured: %s", json_text(metric, "measured", ""));
	if (json_flag(metric, "calibrated"))
		printf("  calibrated: bytes per count are those of [calibration] in "
		       "uncored.conf\n");
}

/* Prints the alternatives of events of @metric that did not resolve, each reason once. */
static void print_tried(const struct json_value *boxes, const char *metric)
{
	const char *last = "";

	JSON_EACH (boxes, box) {
		const struct json_value *events = json_list(box, "events");

		JSON_EACH (events, event) {
			const char *tried = json_text(event, "tried", "");

			if (!*tried || strcmp(json_text(event, "metric", ""), metric) != 0)
				continue;
			if (strcmp(tried, last) != 0)
				output_line(4, "tried before: %s", tried);
			last = tried;
		}
	}
}

static void print_quality(const struct json_value *state)
{
	char text[QUALITY_TEXT_MAX];

	quality_format(state, text);
	output_line(2, "socket %" PRIu64 ": %s", json_number(state, "socket"), text);
	if (json_has(state, "taken_from"))
		printf("    counted by %s in its place, see below\n",
			json_text(state, "taken_from", ""));
	if (json_has(state, "check_ratio"))
		printf("    %.3f times what its check has counted\n",
			json_real(state, "check_ratio"));
}

static const struct json_value *find_socket(const struct json_value *sockets, uint64_t number)
{
	JSON_EACH (sockets, socket)
		if (json_number(socket, "socket") == number)
			return socket;
	return NULL;
}

static void explain_print_socket(
	const struct json_value *state, const struct json_value *sockets, const char *metric)
{
	const uint64_t number = json_number(state, "socket");
	const struct json_value *boxes = json_list(find_socket(sockets, number), "boxes");
	const char *counted = json_text(state, "taken_from", metric);

	print_quality(state);
	boxes_print(boxes, number, counted);
	print_tried(boxes, counted);
}

/* The check that some socket counts in place of @metric; NULL: no socket does. */
static const char *substitute(const struct json_value *metric)
{
	const struct json_value *states = json_list(metric, "sockets");

	JSON_EACH (states, state)
		if (json_has(state, "taken_from"))
			return json_text(state, "taken_from", "");
	return NULL;
}

static void print_metric_here(const struct json_value *info, const struct json_value *metric)
{
	const struct json_value *states = json_list(metric, "sockets");
	const char *name = json_text(metric, "name", "?");

	printf("%s, in %s, on platform %s\n", name, json_text(metric, "unit", "?"),
		json_text(info, "platform", "?"));
	quality_print_warnings(info);
	print_formula(json_list(metric, "terms"), json_text(metric, "unit", "?"));
	print_origin(metric);
	JSON_EACH (states, state)
		explain_print_socket(state, json_list(info, "sockets"), name);
}

/* What the tier of memory of @total, like "dram.total", reads or writes. */
static const struct json_value *explain_find_part(
	const struct json_value *metrics, const char *total, const char *what)
{
	const size_t n = strcspn(total, ".");

	JSON_EACH (metrics, metric) {
		const char *name = json_text(metric, "name", "");

		if (strncmp(name, total, n) == 0 && strcmp(name + n, what) == 0)
			return metric;
	}
	return NULL;
}

/* `uncore list` has a total for each tier, of which uncored does not know. */
static bool explain_total(const struct json_value *info, const char *name)
{
	const struct json_value *metrics = json_list(info, "metrics");
	const struct json_value *read = explain_find_part(metrics, name, ".read");
	const struct json_value *write = explain_find_part(metrics, name, ".write");

	if (!read || !write || strcmp(name + strcspn(name, "."), ".total") != 0)
		return false;
	printf("%s is the sum of these.\n\n", name);
	print_metric_here(info, read);
	printf("\n");
	print_metric_here(info, write);
	return true;
}

bool explain_metric(const struct json_value *info, const char *name)
{
	const struct json_value *metrics = json_list(info, "metrics");
	const struct json_value *metric = explain_find_named(metrics, name);
	const char *other = substitute(metric);

	if (!metric)
		return explain_total(info, name);
	print_metric_here(info, metric);
	if (other && explain_find_named(metrics, other)) {
		printf("\n");
		print_metric_here(info, explain_find_named(metrics, other));
	}
	return true;
}

/* --- all platforms --- */

static void print_platform_metric(const struct json_value *metric, int width)
{
	static const struct {
		const char *key, *words;
	} notes[] = {
		{ "partial", "partial" },
		{ "doubt", "uncalibrated" },
		{ "doubt_if_divided", "uncalibrated if sockets have several NUMA nodes" },
		{ "measured", "measured" },
	};
	const char *name = json_text(metric, "name", "?");
	const size_t at = (size_t)width + 11;

	if (json_has(metric, "absent"))
		printf("  %-*s absent  ", width, name);
	else
		printf("  %-*s %-7s ", width, name, json_text(metric, "confidence", "?"));
	output_rest(at, at, "%s%s", json_flag(metric, "uncalibrated") ? "uncalibrated; " : "",
		json_text(metric, "absent", json_text(metric, "source", "")));
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		if (json_has(metric, notes[i].key))
			output_line(
				at, "%s: %s", notes[i].words, json_text(metric, notes[i].key, ""));
}

static void print_platform(const struct json_value *platform)
{
	const struct json_value *metrics = json_list(platform, "metrics");
	const int width = json_width(metrics, "name", 17);

	printf("%s: %s\n", json_text(platform, "name", "?"), json_text(platform, "title", "?"));
	if (json_has(platform, "unsupported"))
		output_line(2, "unsupported: %s", json_text(platform, "unsupported", ""));
	JSON_EACH (metrics, metric)
		print_platform_metric(metric, width);
	printf("\n");
}

void explain_platforms(const struct json_value *list)
{
	JSON_EACH (list, platform)
		print_platform(platform);
}
