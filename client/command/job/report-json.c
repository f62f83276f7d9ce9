/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/report.h"
#include "client/records/job-record.h"
#include "client/report/derived.h"
#include "client/report/format.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

/* A whole number, like the counts. */
static uint64_t report_json_sum_of(const struct record_region *region, uint32_t metric)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < region->n_sockets; i++)
		sum += region->sockets[i].values[metric].count;
	return sum;
}

static void report_json_totals(struct jsonwriter *json, const struct record *total)
{
	struct format_socket shown = { .n_values = total->n_metrics };

	for (uint32_t i = 0; i < total->n_metrics; i++) {
		const struct derived sum = derived_total(&total->regions[0], i);

		shown.values[i] = (struct format_value){ total->metrics[i], total->units[i],
			.why = sum.why, .count = report_json_sum_of(&total->regions[0], i),
			.quality = derived_is_known(&sum) ? sum.quality : UNCORE_ABSENT };
	}
	format_json_metrics(json, "total", &shown);
}

/* As they were read. This is the last use of their texts. */
static void report_json_records(struct jsonwriter *json, const struct join *join)
{
	jsonwriter_array(json, "records");
	for (uint32_t i = 0; i < join->n_records; i++) {
		_cleanup_(json_document_done) struct json_document document;
		const struct json_value *record =
			json_document_take(&document, take_ptr(join->records[i].batch.text));

		if (record && !join->records[i].beside)
			json_copy(json, NULL, record, NULL);
	}
	jsonwriter_close(json);
}

static void report_json_page(struct jsonwriter *json, const struct join *join)
{
	const struct record *total = &join->total;

	jsonwriter_signed(json, "uid", total->batch.uid);
	jsonwriter_text_or_null(json, "platform", total->platform);
	record_json_time(json, "begin", total->begun_ns);
	record_json_time(json, "end", total->ended_ns);
	jsonwriter_text_or_null(json, "exit", total->batch.exit);
	jsonwriter_real(json, "seconds", total->batch.seconds);
	join_json_counts(json, join);
}

void job_report_json(struct jsonwriter *json, const struct job_report *report, bool is_page)
{
	const struct join *join = report->join;

	jsonwriter_object(json, NULL);
	jsonwriter_number(json, "record", JOB_SCHEMA);
	jsonwriter_text_or_null(json, "job", join->total.job);
	jsonwriter_text_or_null(json, "run", join_job_key(join));
	join_json_notes(json, join, &report->of->found.options->hosts, report->notes);
	report_json_totals(json, &join->total);
	join_json_imbalance(json, "imbalance", join, 0);
	job_report_json_met(json, report);
	(is_page ? report_json_page : report_json_records)(json, join);
	jsonwriter_close(json);
}
