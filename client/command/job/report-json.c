/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses json-c instead of jsonwriter.h, because the records go into the report as they were read. */
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "client/command/job/record/job-json.h"
#include "client/command/job/report.h"
#include "client/report/derived.h"
#include "client/report/format.h"

static void add(struct json_object *object, const char *key, struct json_object *member)
{
	json_object_object_add(object, key, member);
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
	add(object, key, text && *text ? json_object_new_string(text) : NULL);
}

static struct json_object *add_list(struct json_object *object, const char *key)
{
	struct json_object *list = json_object_new_array();

	add(object, key, list);
	return list;
}

/* --- sums --- */

static void add_quality(struct json_object *object, uint32_t quality)
{
	char words[FORMAT_QUALITY_MAX], *rest = words, *word;
	struct json_object *list = add_list(object, "quality");

	uncore_quality_words(quality, words, sizeof words);
	while ((word = strsep(&rest, ",")))
		if (*word)
			json_object_array_add(list, json_object_new_string(word));
}

/* A whole number, like the counts. */
static uint64_t sum_of(const struct record_region *region, uint32_t metric)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < region->n_sockets; i++)
		sum += region->sockets[i].values[metric].count;
	return sum;
}

static void add_total(struct json_object *metrics, const struct record *total, uint32_t metric)
{
	struct derived sum = derived_total(&total->regions[0], metric);
	const bool bytes = strcmp(total->units[metric], "bytes") == 0;
	struct json_object *object = json_object_new_object();

	add(metrics, total->metrics[metric], object);
	if (!derived_is_known(&sum)) {
		add_text(object, "absent", sum.why);
		return;
	}
	add(object, bytes ? "bytes" : "value",
		json_object_new_uint64(sum_of(&total->regions[0], metric)));
	if (!bytes)
		add_text(object, "unit", total->units[metric]);
	add_quality(object, sum.quality);
}

static void add_imbalance(struct json_object *metrics, const struct join *join, uint32_t metric)
{
	struct join_imbalance imbalance = join_imbalance(join, 0, metric);
	struct json_object *object;

	if (!imbalance.largest || isnan(imbalance.ratio))
		return;
	object = json_object_new_object();
	add(metrics, join->total.metrics[metric], object);
	add(object, "largest_to_mean", json_object_new_double(imbalance.ratio));
	add_text(object, "largest_host", imbalance.largest->host);
}

static void add_sums(struct json_object *object, const struct join *join)
{
	struct json_object *total = json_object_new_object(), *imbalance = json_object_new_object();

	add(object, "total", total);
	add(object, "imbalance", imbalance);
	for (uint32_t i = 0; i < join->total.n_metrics; i++) {
		add_total(total, &join->total, i);
		add_imbalance(imbalance, join, i);
	}
}

/* --- the rest --- */

static void add_notes(struct json_object *object, const char *notes)
{
	struct json_object *list = add_list(object, "notes");

	while (*notes) {
		size_t n = strcspn(notes, "\n");

		json_object_array_add(list, json_object_new_string_len(notes, (int)n));
		notes += n + (notes[n] == '\n');
	}
}

static void add_missing(struct json_object *object, const struct job_report *report)
{
	struct json_object *list = add_list(object, "missing");

	for (size_t i = 0; i < report->expected->n_names; i++)
		if (!join_has_host(&report->join, report->expected->names[i]))
			json_object_array_add(
				list, json_object_new_string(report->expected->names[i]));
}

static void add_met(struct json_object *object, const struct job_report *report)
{
	struct json_object *list = add_list(object, "other_jobs");

	for (size_t i = 0; i < report->n_met; i++) {
		const struct job_record *record = report->met[i];
		struct json_object *met = json_object_new_object();

		add_text(met, "job", record->id);
		add(met, "uid", record->uid < 0 ? NULL : json_object_new_int64(record->uid));
		add_text(met, "host", record->host);
		add_text(met, "begin", record->begin);
		add_text(met, "end", record->end);
		json_object_array_add(list, met);
	}
}

struct json_object *job_report_json(const struct job_report *report)
{
	struct json_object *object = json_object_new_object(), *list;

	if (!object)
		return NULL;
	add(object, "record", json_object_new_int(JOB_SCHEMA));
	add_text(object, "job", report->run->records[0]->id);
	add_text(object, "run", report->run->key);
	add_notes(object, report->notes);
	add_missing(object, report);
	add_sums(object, &report->join);
	add_met(object, report);
	list = add_list(object, "records");
	for (size_t i = 0; i < report->run->n; i++)
		json_object_array_add(list, json_object_get(report->run->records[i]->json));
	return object;
}
