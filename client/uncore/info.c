/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore info: the daemon's whole state. It sends JSON; this file only lays it out for reading, and
 * leaves out what a daemon of another release does not send.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "client/uncore.h"
#include "client/uncore/boxes.h"
#include "client/uncore/clients.h"
#include "client/uncore/command.h"
#include "client/uncore/explain.h"
#include "client/uncore/json.h"
#include "client/uncore/limits.h"
#include "client/uncore/quality.h"
#include "client/uncore/validated.h"
#include "common/macro.h"

struct options {
	const char *socket_path;
	const char *metric; /* to explain; NULL: none */
	bool json, platforms, clients;
};

static void write_help(void)
{
	printf("Usage: uncore info [OPTION...]\n"
	       "Show the platform, the counters that were found or not, and why, the metrics, the\n"
	       "policy and the state of uncored.\n\n"
	       "  -j, --json         print it as JSON\n"
	       "      --explain METRIC  how this metric is computed here: PMUs, encodings, bytes "
	       "per\n"
	       "                     count, alternatives that were tried, and the source of it "
	       "all\n"
	       "      --clients      who the clients are and what they cost; for root only\n"
	       "      --platforms    list all platforms that uncored knows, with the source and\n"
	       "                     confidence of each metric\n"
	       "      --socket PATH  where uncored listens (default: $UNCORE_SOCKET, then\n"
	       "                     /run/uncored/socket)\n"
	       "  -h, --help\n\n"
	       "Exit status: 0, also if uncored can only say why it serves nothing; 1 if uncored\n"
	       "cannot be reached or does not let this user in, the platform has no such METRIC or "
	       "the\n"
	       "output cannot be written; 2 "
	       "for a\n"
	       "wrong option.\n");
}

static int complain(const char *what)
{
	fprintf(stderr, "uncore info: %s; see `uncore info --help`.\n", what);
	return EXIT_USAGE;
}

/* Returns as parse_options(). */
static int check_options(const struct options *options, const char *argument)
{
	if (options->metric && (options->json || options->platforms || options->clients))
		return complain("--explain goes with none of --json, --platforms and --clients");
	if (options->platforms && options->clients)
		return complain("--platforms and --clients ask for two different lists");
	if (!argument)
		return -1;
	fprintf(stderr, "uncore info: takes no argument %s; see `uncore info --help`.\n", argument);
	return EXIT_USAGE;
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "explain", required_argument, NULL, 'e' },
		{ "platforms", no_argument, NULL, 'p' },
		{ "clients", no_argument, NULL, 'c' },
		{ "socket", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "jh", names, NULL)) != -1) {
		switch (letter) {
		case 'j':
			options->json = true;
			break;
		case 'e':
			options->metric = optarg;
			break;
		case 'p':
			options->platforms = true;
			break;
		case 'c':
			options->clients = true;
			break;
		case 's':
			options->socket_path = optarg;
			break;
		case 'h':
			write_help();
			return 0;
		default:
			fprintf(stderr, "See `uncore info --help`.\n");
			return EXIT_USAGE;
		}
	}
	return check_options(options, argv[optind]);
}

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

/* One line where all sockets agree, else one for each. */
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

/* Whether a restart will keep the counts, and whether the last one did. */
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

/* A heading and its entries; nothing if there are none. */
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

static void print_report(struct json_object *info)
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

static int not_understood(void)
{
	fprintf(stderr,
		"uncore info: uncored sent no report: are `uncore` and uncored of one release?\n");
	return EXIT_FAILED;
}

static int print_state(struct json_object *info, const struct options *options)
{
	if (!json_object_is_type(info, json_type_object))
		return not_understood();
	if (!options->metric) {
		print_report(info);
		return 0;
	}
	if (explain_metric(info, options->metric))
		return 0;
	fprintf(stderr,
		"uncore info: platform %s has no metric %s; `uncore info` lists those it has.\n",
		json_text(info, "platform", "?"), options->metric);
	return EXIT_FAILED;
}

static int print_platforms(struct json_object *list)
{
	if (!json_object_is_type(list, json_type_array))
		return not_understood();
	explain_platforms(list);
	return 0;
}

static int print_text(const char *text, const struct options *options)
{
	struct json_object *object = json_tokener_parse(text);
	int status = options->platforms ? print_platforms(object) : print_state(object, options);

	json_object_put(object);
	return status;
}

/*
 * Only an uncored that is there but cannot serve causes these errors; connect(2) and the site's
 * policy do not: libuncore(3).
 */
static bool serves_nothing(int error)
{
	return error == -ENODEV || error == -EPERM || error == -EINVAL || error == -ENOMEM;
}

/* The reason is all the state that such an uncored has. */
static void print_reason(int error, const char *reason, bool json)
{
	struct json_object *object;

	if (!json) {
		printf("uncored is there, but serves nothing.\n%s\n", reason);
		return;
	}
	object = json_object_new_object();
	json_object_object_add(object, "error", json_object_new_int(error));
	json_object_object_add(object, "reason", json_object_new_string(reason));
	printf("%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

int command_info(int argc, char **argv)
{
	_cleanup_free_ char *text = NULL;
	struct options options = {};
	int r, status = parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	if (options.clients)
		return clients_show(options.socket_path, options.json);
	r = options.platforms ? uncore_platforms(options.socket_path, &text)
			      : uncore_info(options.socket_path, &text);
	if (serves_nothing(r)) {
		print_reason(r, uncore_error_text(), options.json);
		return 0;
	}
	if (r < 0) {
		fprintf(stderr, "uncore info: %s\n", uncore_error_text());
		return EXIT_FAILED;
	}
	if (!options.json)
		return print_text(text, &options);
	printf("%s\n", text);
	return 0;
}
