/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore info: what uncored says of itself, which it sends as JSON. */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "client/command/frame/command.h"
#include "client/command/info/clients.h"
#include "client/command/info/explain.h"
#include "client/command/info/state-print.h"
#include "client/libuncore/uncore.h"
#include "client/records/json.h"
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
		state_print(info);
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
