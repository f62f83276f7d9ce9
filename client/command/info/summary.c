/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/info/info.h"

#include <stdio.h>
#include <string.h>

#include "client/command/frame/output.h"
#include "client/command/frame/validated.h"
#include "client/reader/reader.h"
#include "client/report/format.h"
#include "common/macro.h"
#include "common/text.h"

enum { NAMES_MAX = 256 };

static bool summary_is_told(const struct json_value *metric)
{
	return !format_is_check(json_text(metric, "name", "?"));
}

/* All metrics of which @text is to be said, if @first is the first of them. */
static void print_alike(const struct json_value *metrics, const struct json_value *first,
	const char *text, const char *label)
{
	char other[QUALITY_METRIC_MAX], line[NAMES_MAX + QUALITY_METRIC_MAX] = "";

	JSON_EACH (metrics, metric) {
		quality_describe(metric, true, other);
		if (!summary_is_told(metric) || strcmp(other, text) != 0)
			continue;
		if (!*line && metric != first)
			return;
		text_append(
			line, NAMES_MAX, "%s%s", *line ? ", " : "", json_text(metric, "name", "?"));
	}
	text_append(line, sizeof line, ": %s", text);
	output_labelled(label, line);
}

static void summary_print_metrics(const struct json_value *info)
{
	const struct json_value *metrics = json_list(info, "metrics");
	const size_t n_sockets = json_length(json_list(info, "sockets"));
	unsigned n_good = 0, n_absent = 0, n = 0;
	enum output_style style;
	char text[QUALITY_METRIC_MAX];

	JSON_EACH (metrics, metric) {
		if (!summary_is_told(metric))
			continue;
		quality_describe(metric, true, text);
		n++;
		n_good += !strcmp(text, "good") || !strcmp(text, "standin");
		n_absent += !strncmp(text, "absent (", strlen("absent ("));
	}
	style = n == n_absent ? STYLE_BAD : n == n_good + n_absent ? STYLE_GOOD : STYLE_DOUBT;
	snprintf(text, sizeof text, "%s: %u metric%s counted on %zu socket%s",
		style == STYLE_BAD    ? "no"
		: style == STYLE_GOOD ? "yes"
				      : "in part",
		n - n_absent, n - n_absent == 1 ? " is" : "s are", n_sockets,
		n_sockets == 1 ? "" : "s");
	output_style(stdout, style);
	output_labelled("works", text);
	output_style(stdout, STYLE_PLAIN);
	JSON_EACH (metrics, metric) {
		quality_describe(metric, true, text);
		print_alike(metrics, metric, text, metric == metrics + 1 ? "metrics" : "");
	}
}

/* --- the whole --- */

static void print_checked(const struct json_value *info)
{
	_cleanup_(validated_done) struct validated validated;
	char text[128] = "not yet: `sudo uncore validate --keep` compares it with known traffic";

	if (validated_read(&validated, json_text(info, "platform", "")))
		snprintf(text, sizeof text, "%s on %s, under Linux %s%s",
			json_text(validated.report, "outcome", "?"),
			json_text(validated.report, "date", "?"),
			json_text(validated.report, "kernel", "?"),
			validated_is_of_this_boot(&validated) ? "" : ", before this boot");
	else if (json_flag(info, "standin"))
		return;
	output_labelled("validated", text);
}

static void summary_print_channels(const struct json_value *info, const char *socket_path)
{
	_cleanup_(reader_close) struct reader reader = { .socket_path = socket_path };

	if (reader_open(&reader, READER_CONNECT_NS) < 0)
		return;
	nodes_print(info, &reader);
	standing_print(reader.handle);
}

void summary_print(const struct json_value *info, const char *socket_path)
{
	const struct json_value *warnings = json_list(info, "warnings");
	const char *label = "warnings";

	printf("\n");
	summary_print_metrics(info);
	summary_print_channels(info, socket_path);
	print_checked(info);
	output_labelled("may read", json_text(json_member(info, "policy"), "words", "?"));
	JSON_EACH (warnings, warning) {
		output_labelled(label, json_scalar(warning, "?"));
		label = "";
	}
}
