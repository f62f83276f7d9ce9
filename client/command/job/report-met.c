/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "client/command/job/report.h"
#include "client/report/json.h"
#include "common/array.h"
#include "common/jsonwriter.h"

enum { MET_MOST = 20 };

void job_report_meet(const struct found_files *found, struct record *record)
{
	struct job_found *of = found->reader.owner;

	if (record->rows && array_room(&of->met, of->n_met, sizeof *of->met) == 0) {
		struct met *met = &of->met[of->n_met++];

		*met = (struct met){
			.uid = record->batch.uid,
			.begun_ns = record->begun_ns,
			.ended_ns = record->ended_ns,
			.first_ns = record_first_ns(record),
			.last_ns = record_last_ns(record),
		};
		strcpy(met->job, record->job);
		strcpy(met->host, record->host);
	}
	record_done(record);
}

static int met_compare(const void *a, const void *b)
{
	const struct met *x = a, *y = b;
	int r = strcmp(x->job, y->job);

	if (r == 0)
		r = (x->begun_ns > y->begun_ns) - (x->begun_ns < y->begun_ns);
	if (r == 0)
		r = (x->ended_ns > y->ended_ns) - (x->ended_ns < y->ended_ns);
	return r ? r : strcmp(x->host, y->host);
}

void job_report_sort_met(struct job_found *of)
{
	const size_t n = of->n_met;

	if (n)
		qsort(of->met, n, sizeof *of->met, met_compare);
	of->n_met = 0;
	for (size_t i = 0; i < n; i++)
		if (!i || met_compare(&of->met[i], &of->met[of->n_met - 1]) != 0)
			of->met[of->n_met++] = of->met[i];
}

static bool met_is_of(const struct met *met, const struct job_report *report)
{
	return met->first_ns <= report->last_ns && report->first_ns <= met->last_ns &&
	       join_has_host(report->join, met->host);
}

void job_report_print_met(FILE *out, const struct job_report *report)
{
	size_t n = 0;

	for (size_t i = 0; i < report->of->n_met; i++) {
		const struct met *met = &report->of->met[i];

		if (!met_is_of(met, report) || n++ >= MET_MOST)
			continue;
		fprintf(out,
			n > 1 ? "   job %s of "
			      : " Other jobs on these hosts meanwhile:\n   job %s of ",
			met->job);
		notes_write_user(out, met->uid);
		fprintf(out, " on %s, ", met->host);
		notes_write_span(out, met->begun_ns, met->ended_ns);
		fputc('\n', out);
	}
	if (n > MET_MOST)
		fprintf(out, "   and %zu more, which --json has.\n", n - MET_MOST);
}

void job_report_json_met(struct jsonwriter *json, const struct job_report *report)
{
	jsonwriter_array(json, "other_jobs");
	for (size_t i = 0; i < report->of->n_met; i++) {
		const struct met *met = &report->of->met[i];

		if (!met_is_of(met, report))
			continue;
		jsonwriter_object(json, NULL);
		jsonwriter_text_or_null(json, "job", met->job);
		jsonwriter_known(json, "uid", met->uid >= 0, met->uid);
		jsonwriter_text_or_null(json, "host", met->host);
		record_json_time(json, "begin", met->begun_ns);
		record_json_time(json, "end", met->ended_ns);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}
