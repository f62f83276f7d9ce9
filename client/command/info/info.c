/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore info: what uncored says of itself, in JSON. */
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "client/command/frame/command.h"
#include "client/command/info/clients.h"
#include "client/command/info/explain.h"
#include "client/command/info/info-options.h"
#include "client/command/info/state-print.h"
#include "client/libuncore/uncore.h"
#include "client/records/json.h"
#include "common/macro.h"
#include "common/nearest.h"

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct info_options *options)
{
	int status = option_parse(&info_table, argc, argv, options, NULL);

	if (status >= 0)
		return status;
	if (options->metric && (options->json || options->platforms || options->clients))
		return option_complain(
			&info_table, "--explain excludes --json, --platforms and --clients");
	if (options->platforms && options->clients)
		return option_complain(
			&info_table, "--platforms and --clients ask for two different lists");
	return option_no_argument(&info_table, argc, argv);
}

static int not_understood(void)
{
	fprintf(stderr,
		"uncore info: uncored sent no report: are `uncore` and uncored of one release?\n");
	return EXIT_FAILED;
}

static void say_no_metric(struct json_object *info, const char *name)
{
	struct json_object *metrics = json_list(info, "metrics");
	struct nearest nearest;

	nearest_init(&nearest, name);
	for (size_t i = 0; i < json_length(metrics); i++)
		nearest_try(&nearest, json_text(json_object_array_get_idx(metrics, i), "name", ""));
	fprintf(stderr,
		"uncore info: platform %s does not have the metric %s%s%s. `uncore info` "
		"lists those that it has.\n",
		json_text(info, "platform", "?"), name, nearest.name ? "; did you mean " : "",
		nearest.name ? nearest.name : "");
}

static int print_state(struct json_object *info, const struct info_options *options)
{
	if (!json_object_is_type(info, json_type_object))
		return not_understood();
	if (!options->metric) {
		state_print(info);
		return 0;
	}
	if (explain_metric(info, options->metric))
		return 0;
	say_no_metric(info, options->metric);
	return EXIT_FAILED;
}

static int print_platforms(struct json_object *list)
{
	if (!json_object_is_type(list, json_type_array))
		return not_understood();
	explain_platforms(list);
	return 0;
}

static int print_text(const char *text, const struct info_options *options)
{
	struct json_object *object = json_tokener_parse(text);
	int status = options->platforms ? print_platforms(object) : print_state(object, options);

	json_object_put(object);
	return status;
}

/*
 * Only an uncored that runs but cannot serve causes these errors. Neither connect(2) nor the site's
 * policy causes them: libuncore(3).
 */
static bool serves_nothing(int error)
{
	return error == -ENODEV || error == -EPERM || error == -EINVAL || error == -ENOMEM;
}

/* Such an uncored has no other state than the reason. */
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
	struct info_options options = {};
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
