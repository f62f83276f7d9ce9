/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/info/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/command/info/boxes.h"
#include "client/command/info/quality.h"
#include "client/records/json.h"

enum { WORTH_MAX = 32 };

/* --- one metric --- */

static struct json_object *find_named(struct json_object *list, const char *name)
{
	for (size_t i = 0; i < json_length(list); i++) {
		struct json_object *entry = json_object_array_get_idx(list, i);

		if (strcmp(json_text(entry, "name", ""), name) == 0)
			return entry;
	}
	return NULL;
}

/* What a count is worth: "64", or "64/9". */
static void write_worth(struct json_object *term, char ret[static WORTH_MAX])
{
	if (json_has(term, "scale"))
		snprintf(ret, WORTH_MAX, "%s", json_text(term, "scale", ""));
	else
		snprintf(ret, WORTH_MAX, "%" PRIu64, json_number(term, "bytes"));
}

static void print_formula(struct json_object *terms, const char *unit)
{
	char worth[WORTH_MAX];

	for (size_t i = 0; i < json_length(terms); i++) {
		struct json_object *term = json_object_array_get_idx(terms, i);

		write_worth(term, worth);
		printf("  %s %s %s x each count of %s\n",
			json_flag(term, "subtract") ? "less"
			: i                         ? "plus"
						    : "is  ",
			worth, unit, json_text(term, "event", "?"));
		printf("       on every PMU named %s\n", json_text(term, "pmu", "?"));
		if (json_has(term, "optional"))
			printf("       where there is one; else: %s\n",
				json_text(term, "optional", ""));
		if (json_has(term, "clock"))
			printf("       watched by its clock %s\n", json_text(term, "clock", ""));
	}
}

static void print_origin(struct json_object *metric)
{
	if (json_has(metric, "source"))
		printf("  source: %s (confidence: %s)\n", json_text(metric, "source", ""),
			json_text(metric, "confidence", "?"));
	if (json_has(metric, "measured"))
		printf("  measured: %s\n", json_text(metric, "measured", ""));
	if (json_flag(metric, "calibrated"))
		printf("  calibrated: bytes per count are those of [calibration] in "
		       "uncored.conf\n");
}

/* The boxes of @socket that count @metric, with only their events for it. */
static struct json_object *boxes_of(struct json_object *socket, const char *metric)
{
	struct json_object *boxes = json_list(socket, "boxes"), *found = json_object_new_array();

	for (size_t i = 0; i < json_length(boxes); i++) {
		struct json_object *box = NULL, *events = json_object_new_array();
		struct json_object *all;

		json_object_deep_copy(json_object_array_get_idx(boxes, i), &box, NULL);
		all = json_list(box, "events");
		for (size_t k = 0; k < json_length(all); k++) {
			struct json_object *event = json_object_array_get_idx(all, k);

			if (strcmp(json_text(event, "metric", ""), metric) == 0)
				json_object_array_add(events, json_object_get(event));
		}
		if (json_length(events)) {
			json_object_object_add(box, "events", events);
			json_object_array_add(found, box);
		} else {
			json_object_put(events);
			json_object_put(box);
		}
	}
	return found;
}

/* Prints the alternatives of an event that did not resolve, each reason once. */
static void print_tried(struct json_object *boxes)
{
	const char *last = "";

	for (size_t i = 0; i < json_length(boxes); i++) {
		struct json_object *events =
			json_list(json_object_array_get_idx(boxes, i), "events");

		for (size_t k = 0; k < json_length(events); k++) {
			const char *tried =
				json_text(json_object_array_get_idx(events, k), "tried", "");

			if (*tried && strcmp(tried, last) != 0)
				printf("    tried before: %s\n", tried);
			if (*tried)
				last = tried;
		}
	}
}

static void print_quality(struct json_object *state)
{
	char text[QUALITY_TEXT_MAX];

	quality_format(state, text, sizeof text);
	printf("  socket %" PRIu64 ": %s\n", json_number(state, "socket"), text);
	if (json_has(state, "taken_from"))
		printf("    counted by %s in its place, see below\n",
			json_text(state, "taken_from", ""));
	if (json_has(state, "check_ratio"))
		printf("    %.3f times what its check has counted\n",
			json_object_get_double(json_member(state, "check_ratio")));
}

static struct json_object *find_socket(struct json_object *sockets, uint64_t number)
{
	for (size_t i = 0; i < json_length(sockets); i++) {
		struct json_object *socket = json_object_array_get_idx(sockets, i);

		if (json_number(socket, "socket") == number)
			return socket;
	}
	return NULL;
}

static void print_socket(struct json_object *state, struct json_object *sockets, const char *metric)
{
	uint64_t number = json_number(state, "socket");
	struct json_object *boxes =
		boxes_of(find_socket(sockets, number), json_text(state, "taken_from", metric));

	print_quality(state);
	if (json_length(boxes))
		boxes_print_with_names(boxes, number);
	print_tried(boxes);
	json_object_put(boxes);
}

/* The check that some socket counts in place of @metric; NULL: no socket does. */
static const char *substitute(struct json_object *metric)
{
	struct json_object *states = json_list(metric, "sockets");

	for (size_t i = 0; i < json_length(states); i++) {
		struct json_object *state = json_object_array_get_idx(states, i);

		if (json_has(state, "taken_from"))
			return json_text(state, "taken_from", "");
	}
	return NULL;
}

static void print_metric_here(struct json_object *info, struct json_object *metric)
{
	struct json_object *states = json_list(metric, "sockets");
	const char *name = json_text(metric, "name", "?");

	printf("%s, in %s, on platform %s\n", name, json_text(metric, "unit", "?"),
		json_text(info, "platform", "?"));
	quality_print_warnings(info);
	print_formula(json_list(metric, "terms"), json_text(metric, "unit", "?"));
	print_origin(metric);
	for (size_t i = 0; i < json_length(states); i++)
		print_socket(
			json_object_array_get_idx(states, i), json_list(info, "sockets"), name);
}

bool explain_metric(struct json_object *info, const char *name)
{
	struct json_object *metrics = json_list(info, "metrics");
	struct json_object *metric = find_named(metrics, name);
	const char *other = substitute(metric);

	if (!metric)
		return false;
	print_metric_here(info, metric);
	if (other && find_named(metrics, other)) {
		printf("\n");
		print_metric_here(info, find_named(metrics, other));
	}
	return true;
}

/* --- all platforms --- */

static void print_platform_metric(struct json_object *metric)
{
	const char *name = json_text(metric, "name", "?");

	if (json_has(metric, "absent"))
		printf("  %-17s absent  %s\n", name, json_text(metric, "absent", ""));
	else
		printf("  %-17s %-7s %s%s\n", name, json_text(metric, "confidence", "?"),
			json_flag(metric, "uncalibrated") ? "uncalibrated; " : "",
			json_text(metric, "source", ""));
	if (json_has(metric, "partial"))
		printf("  %-25s partial: %s\n", "", json_text(metric, "partial", ""));
	if (json_has(metric, "measured"))
		printf("  %-25s measured: %s\n", "", json_text(metric, "measured", ""));
}

static void print_platform(struct json_object *platform)
{
	struct json_object *metrics = json_list(platform, "metrics");

	printf("%s: %s\n", json_text(platform, "name", "?"), json_text(platform, "title", "?"));
	if (json_has(platform, "unsupported"))
		printf("  unsupported: %s\n", json_text(platform, "unsupported", ""));
	for (size_t i = 0; i < json_length(metrics); i++)
		print_platform_metric(json_object_array_get_idx(metrics, i));
	printf("\n");
}

void explain_platforms(struct json_object *list)
{
	for (size_t i = 0; i < json_length(list); i++)
		print_platform(json_object_array_get_idx(list, i));
}
