/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/plan-report.h"

#include <stdio.h>

#include "common/macro.h"
#include "common/text.h"
#include "daemon/plan/platform-search.h"

static void write_choices(
	struct jsonwriter *json, const char *key, const struct event_choices *choices)
{
	char text[PLATFORM_CHOICES_MAX * (sizeof choices->choice[0].text + 8)] = "";

	for (unsigned i = 0; i < choices->n; i++)
		text_append(text, sizeof text, "%s%s:%s", i ? " | " : "",
			event_kind_name(choices->choice[i].kind), choices->choice[i].text);
	if (choices->n)
		jsonwriter_text(json, key, text);
}

void platform_report_worth(struct jsonwriter *json, struct scale scale)
{
	char text[SCALE_TEXT_MAX];

	scale_text(scale, text);
	if (scale_is_whole(scale))
		jsonwriter_number(json, "bytes", scale.n);
	else
		jsonwriter_text(json, "scale", text);
}

void platform_report_terms(struct jsonwriter *json, const struct platform_metric *metric)
{
	jsonwriter_array(json, "terms");
	for (unsigned t = 0; t < metric->n_terms; t++) {
		const struct platform_term *term = &metric->terms[t];

		jsonwriter_object(json, NULL);
		jsonwriter_text(json, "pmu", term->pmu);
		write_choices(json, "event", &term->event);
		platform_report_worth(json, term->scale);
		if (term->subtract)
			jsonwriter_flag(json, "subtract", true);
		jsonwriter_text_if_any(json, "optional", term->optional);
		write_choices(json, "clock", &term->clock);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

static void write_counted(struct jsonwriter *json, const struct platform_metric *metric)
{
	jsonwriter_text(json, "confidence", metric->confidence);
	jsonwriter_text(json, "source", metric->source);
	jsonwriter_text_if_any(json, "measured", metric->measured);
	jsonwriter_text_if_any(json, "partial", metric->partial);
	if (metric->uncalibrated[0])
		jsonwriter_flag(json, "uncalibrated", true);
	jsonwriter_text_if_any(json, "doubt", metric->uncalibrated);
	jsonwriter_text_if_any(json, "doubt_if_divided", metric->uncalibrated_if_divided);
}

static void platform_report_write_metric(
	struct jsonwriter *json, const struct platform_metric *metric)
{
	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "name", metric->name);
	if (metric->absent[0])
		jsonwriter_text(json, "absent", metric->absent);
	else
		write_counted(json, metric);
	jsonwriter_close(json);
}

static int write_platform(const struct platform *platform, void *list)
{
	struct jsonwriter *json = list;

	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "name", platform->name);
	jsonwriter_text(json, "title", platform->title);
	jsonwriter_text(json, "path", platform->path);
	jsonwriter_text_if_any(json, "unsupported", platform->unsupported);
	jsonwriter_array(json, "metrics");
	for (unsigned m = 0; m < platform->n_metrics; m++)
		platform_report_write_metric(json, &platform->metrics[m]);
	jsonwriter_close(json);
	jsonwriter_close(json);
	return 0;
}

char *platform_report_json(const char *const directories[], struct fault *fault)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	char *text = NULL;

	fault->text[0] = '\0';
	jsonwriter_init(&json, false);
	jsonwriter_array(&json, NULL);
	if (platform_visit(directories, write_platform, &json, fault) < 0)
		return NULL;
	jsonwriter_close(&json);
	jsonwriter_finish(&json, &text);
	return text;
}
