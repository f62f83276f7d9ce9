/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/command/info/info.h"
#include "client/report/format.h"
#include "common/text.h"

void quality_format(const struct json_value *state, char ret_text[QUALITY_TEXT_MAX])
{
	const struct json_value *words = json_list(state, "quality");
	const char *before = "";

	*ret_text = '\0';
	JSON_EACH (words, word) {
		text_append(ret_text, QUALITY_TEXT_MAX, "%s%s", before, json_scalar(word, "?"));
		before = ", ";
	}
	if (!*ret_text)
		strcpy(ret_text, "good");
	if (json_has(state, "why"))
		text_append(ret_text, QUALITY_TEXT_MAX, " (%s)", json_text(state, "why", ""));
}

static bool disagrees(const struct json_value *state)
{
	const double ratio = json_real(state, "check_ratio");

	return json_has(state, "check_ratio") && (ratio < 0.9 || ratio > 1.1);
}

/* With how the counters of the metric's check compare, if it has one. */
static void format_checked(
	const struct json_value *state, bool doubts, char ret_text[QUALITY_TEXT_MAX])
{
	quality_format(state, ret_text);
	if (json_has(state, "taken_from"))
		text_append(ret_text, QUALITY_TEXT_MAX, ", counted by %s in its place",
			json_text(state, "taken_from", ""));
	else if (disagrees(state) || (!doubts && json_has(state, "check_ratio")))
		text_append(ret_text, QUALITY_TEXT_MAX, ", %.3f times what its check counts%s",
			json_real(state, "check_ratio"),
			disagrees(state) ? ": THE TWO DISAGREE" : "");
}

void quality_describe(const struct json_value *metric, bool doubts, char ret[QUALITY_METRIC_MAX])
{
	const struct json_value *sockets = json_list(metric, "sockets");
	char first[QUALITY_TEXT_MAX] = "", text[QUALITY_TEXT_MAX];
	bool agree = true;

	*ret = '\0';
	JSON_EACH (sockets, state) {
		format_checked(state, doubts, text);
		if (!*ret)
			strcpy(first, text);
		agree &= !strcmp(first, text);
		text_append(ret, QUALITY_METRIC_MAX, "%ssocket %" PRIu64 ": %s", *ret ? "; " : "",
			json_number(state, "socket"), text);
	}
	if (agree)
		strcpy(ret, first);
}

void quality_print_warnings(const struct json_value *info)
{
	const char *platform = json_text(info, "platform", "");

	if (format_warning(platform))
		format_warnings(stdout, platform);
	else if (json_flag(info, "standin"))
		printf(" STAND-IN: nothing here is memory traffic.\n");
}
