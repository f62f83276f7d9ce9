/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/view.h"
#include "client/command/job/report.h"
#include "client/records/json.h"
#include "client/report/derived.h"
#include "client/report/format.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/unit.h"

/* --- sums --- */

/* A whole number, like the counts. */
static uint64_t job_report_sum_of(const struct record_region *region, uint32_t metric)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < region->n_sockets; i++)
		sum += region->sockets[i].values[metric].count;
	return sum;
}

static void write_totals(struct jsonwriter *json, const struct record *total)
{
	struct format_socket shown = { .n_values = total->n_metrics };

	for (uint32_t i = 0; i < total->n_metrics; i++) {
		const struct derived sum = derived_total(&total->regions[0], i);

		shown.values[i] = (struct format_value){ total->metrics[i], total->units[i],
			.why = sum.why, .count = job_report_sum_of(&total->regions[0], i),
			.quality = derived_is_known(&sum) ? sum.quality : UNCORE_ABSENT };
	}
	format_json_metrics(json, "total", &shown);
}

/* --- the rest --- */

static void write_met(struct jsonwriter *json, const struct job_report *report)
{
	jsonwriter_array(json, "other_jobs");
	for (size_t i = 0; i < report->n_met; i++) {
		const struct job_record *record = report->met[i];

		jsonwriter_object(json, NULL);
		jsonwriter_text_or_null(json, "job", record->id);
		jsonwriter_known(json, "uid", record->uid >= 0, record->uid);
		jsonwriter_text_or_null(json, "host", record->host);
		record_json_time(json, "begin", record->begin_ns);
		record_json_time(json, "end", record->end_ns);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

/* As they were read. This is the last use of their texts. */
static void write_records(struct jsonwriter *json, const struct job_run *run)
{
	jsonwriter_array(json, "records");
	for (size_t i = 0; i < run->n; i++) {
		_cleanup_(json_document_done) struct json_document document;
		const struct json_value *record =
			json_document_take(&document, take_ptr(run->records[i]->text));

		if (record)
			json_copy(json, NULL, record, NULL);
	}
	jsonwriter_close(json);
}

/* --- the whole --- */

static void begin_report(struct jsonwriter *json, const struct job_report *report)
{
	jsonwriter_object(json, NULL);
	jsonwriter_number(json, "record", JOB_SCHEMA);
	jsonwriter_text_or_null(json, "job", report->run->records[0]->id);
	jsonwriter_text_or_null(json, "run", report->run->key);
	join_json_notes(json, &report->join, report->expected, report->notes);
	write_totals(json, &report->join.total);
	join_json_imbalance(json, "imbalance", &report->join, 0);
	write_met(json, report);
}

void job_report_json(struct jsonwriter *json, const struct job_report *report)
{
	begin_report(json, report);
	write_records(json, report->run);
	jsonwriter_close(json);
}

void job_report_json_short(struct jsonwriter *json, const struct job_report *report)
{
	const struct job_record *first = report->run->records[0];

	begin_report(json, report);
	jsonwriter_signed(json, "uid", first->uid);
	jsonwriter_text_or_null(json, "platform", report->join.total.platform);
	record_json_time(json, "begin", first->begin_ns);
	record_json_time(json, "end", first->end_ns);
	jsonwriter_text_or_null(json, "exit", first->exit);
	jsonwriter_real(json, "seconds", first->seconds);
	join_json_counts(json, &report->join);
	jsonwriter_close(json);
}
