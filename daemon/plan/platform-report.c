/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/platform-report.h"

#include <stdio.h>

#include "common/macro.h"
#include "daemon/base/json.h"
#include "daemon/plan/platform-search.h"

static void add_choices(
	struct json_object *to, const char *key, const struct event_choices *choices)
{
	char text[PLATFORM_CHOICES_MAX * (sizeof choices->choice[0].text + 8)] = "";
	size_t length = 0;

	for (unsigned i = 0; i < choices->n; i++)
		length += snprintf(text + length, sizeof text - length, "%s%s:%s", i ? " | " : "",
			event_kind_name(choices->choice[i].kind), choices->choice[i].text);
	if (choices->n)
		json_add_string(to, key, text);
}

/* How a metric is computed, according to the platform file. */
struct json_object *platform_report_terms(const struct platform_metric *metric)
{
	struct json_object *terms = json_object_new_array();

	for (unsigned t = 0; t < metric->n_terms; t++) {
		const struct platform_term *term = &metric->terms[t];
		struct json_object *object = json_object_new_object();

		json_add_string(object, "pmu", term->pmu);
		add_choices(object, "event", &term->event);
		json_add_number(object, "bytes", term->bytes);
		if (term->subtract)
			json_add_bool(object, "subtract", true);
		if (term->optional[0])
			json_add_string(object, "optional", term->optional);
		add_choices(object, "clock", &term->clock);
		json_object_array_add(terms, object);
	}
	return terms;
}

static struct json_object *metric_json(const struct platform_metric *metric)
{
	struct json_object *object = json_object_new_object();

	json_add_string(object, "name", metric->name);
	if (metric->absent[0]) {
		json_add_string(object, "absent", metric->absent);
		return object;
	}
	json_add_string(object, "confidence", metric->confidence);
	json_add_string(object, "source", metric->source);
	if (metric->measured[0])
		json_add_string(object, "measured", metric->measured);
	if (metric->partial[0])
		json_add_string(object, "partial", metric->partial);
	if (metric->uncalibrated)
		json_add_bool(object, "uncalibrated", true);
	return object;
}

static int add_platform(const struct platform *platform, void *list)
{
	struct json_object *object = json_object_new_object();
	struct json_object *metrics = json_object_new_array();

	json_add_string(object, "name", platform->name);
	json_add_string(object, "title", platform->title);
	json_add_string(object, "path", platform->path);
	if (platform->unsupported[0])
		json_add_string(object, "unsupported", platform->unsupported);
	for (unsigned m = 0; m < platform->n_metrics; m++)
		json_object_array_add(metrics, metric_json(&platform->metrics[m]));
	json_add(object, "metrics", metrics);
	json_object_array_add(list, object);
	return 0;
}

char *platform_report_json(const char *const directories[], struct fault *fault)
{
	_cleanup_json_ struct json_object *list = json_object_new_array();

	fault->text[0] = '\0';
	if (platform_visit(directories, add_platform, list, fault) < 0)
		return NULL;
	return json_text(list);
}
