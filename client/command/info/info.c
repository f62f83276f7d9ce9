/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore info: what uncored says of itself, in JSON. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

#include "client/command/frame/command.h"
#include "client/command/info/info.h"
#include "client/libuncore/uncore.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/nearest.h"

/* Returns -1 to go on, or the exit status. */
static int info_parse_options(int argc, char **argv, struct info_options *options)
{
	int status = option_parse(&info_table, argc, argv, options, NULL);

	if (status >= 0)
		return status;
	if (optind < argc && !options->metric)
		options->metric = argv[optind++];
	if (options->metric && (options->json || options->platforms || options->clients))
		return option_complain(
			&info_table, "--explain excludes --json, --platforms and --clients");
	if (options->platforms && options->clients)
		return option_complain(
			&info_table, "--platforms and --clients ask for two different lists");
	if (options->quiet && (options->json || options->metric || options->platforms ||
				      options->clients || options->verbose))
		return option_complain(&info_table, "--quiet prints nothing, so it stands alone");
	return option_no_argument(&info_table, argc, argv);
}

static int not_understood(void)
{
	fprintf(stderr,
		"uncore info: uncored sent no report: are `uncore` and uncored of one release?\n");
	return EXIT_FAILED;
}

static void say_no_metric(const struct json_value *info, const char *name)
{
	const struct json_value *metrics = json_list(info, "metrics");
	struct nearest nearest;

	nearest_init(&nearest, name);
	JSON_EACH (metrics, metric)
		nearest_try(&nearest, json_text(metric, "name", ""));
	fprintf(stderr,
		"uncore info: platform %s does not have the metric %s%s%s%s `uncore list` has "
		"those that there are.\n",
		json_text(info, "platform", "?"), name, nearest.name ? "; did you mean " : "",
		nearest.name ? nearest.name : "", nearest.name ? "?" : ".");
}

static int print_state(const struct json_value *info, const struct info_options *options)
{
	if (json_value_kind(info) != JSON_OBJECT)
		return not_understood();
	if (!options->metric) {
		state_print(info, options->socket_path, options->verbose);
		return 0;
	}
	if (explain_metric(info, options->metric))
		return 0;
	say_no_metric(info, options->metric);
	return EXIT_FAILED;
}

static int print_platforms(const struct json_value *list)
{
	if (json_value_kind(list) != JSON_LIST)
		return not_understood();
	explain_platforms(list);
	return 0;
}

static int print_text(char *text, const struct info_options *options)
{
	_cleanup_(json_text_done) struct json_text json;
	const struct json_value *value = json_text_parse(text, &json) < 0 ? NULL : json.values;

	return options->platforms ? print_platforms(value) : print_state(value, options);
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
	_cleanup_(jsonwriter_done) struct jsonwriter writer = { .out = NULL };

	if (!json) {
		printf("uncored is there, but serves nothing.\n%s\n", reason);
		return;
	}
	jsonwriter_init(&writer, false);
	jsonwriter_object(&writer, NULL);
	jsonwriter_signed(&writer, "error", error);
	jsonwriter_text(&writer, "reason", reason);
	jsonwriter_close(&writer);
	jsonwriter_print(&writer, stdout);
}

int command_info(int argc, char **argv)
{
	_cleanup_free_ char *text = NULL;
	struct info_options options = {};
	int r, status = info_parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	if (options.clients)
		return clients_show(options.socket_path, options.json);
	r = options.platforms ? uncore_platforms(options.socket_path, &text)
			      : uncore_info(options.socket_path, &text);
	if (serves_nothing(r) && options.quiet) {
		fprintf(stderr, "uncore info: %s\n", uncore_error_text());
		return EXIT_SERVES_NOTHING;
	}
	if (serves_nothing(r)) {
		print_reason(r, uncore_error_text(), options.json);
		return 0;
	}
	if (r < 0) {
		fprintf(stderr, "uncore info: %s\n", uncore_error_text());
		return EXIT_FAILED;
	}
	if (options.quiet)
		return 0;
	if (!options.json)
		return print_text(text, &options);
	printf("%s\n", text);
	return 0;
}
