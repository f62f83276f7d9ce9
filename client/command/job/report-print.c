/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/job/report.h"
#include "client/records/join-print.h"
#include "client/report/footnotes.h"
#include "client/report/print.h"
#include "client/report/quantity.h"

enum { MET_MOST = 20 };

static void print_user(FILE *out, int64_t uid)
{
	if (uid >= 0)
		fprintf(out, "user %" PRId64, uid);
	else
		fprintf(out, "an unknown user");
}

static void print_span(FILE *out, const struct job_record *record)
{
	fprintf(out, "%s to %s", *record->begin ? record->begin : "an unknown time",
		*record->end ? record->end : "an unknown time");
}

static void print_heading(FILE *out, const struct job_report *report)
{
	const struct job_record *first = report->run->records[0];
	const size_t n = report->run->n;
	char time[QUANTITY_MAX];

	fprintf(out, "\n Job %s of ", first->id);
	print_user(out, first->uid);
	if (*report->run->key)
		fprintf(out, ", run %s", report->run->key);
	fprintf(out, ", %zu host%s, ", n, n > 1 ? "s" : "");
	print_span(out, first);
	if (!isnan(first->seconds)) {
		quantity_time(1e9 * first->seconds, time);
		fprintf(out, " (%s)", time);
	}
	if (*first->exit)
		fprintf(out, ", exit %s", first->exit);
	if (*report->join.total.platform)
		fprintf(out, ", platform %s", report->join.total.platform);
	fprintf(out, ":\n");
}

/* --- the table --- */

static int64_t most(int64_t a, int64_t b)
{
	if (a < 0 || b < 0)
		return -1;
	return a > b ? a : b;
}

/* A row for each socket that the job could use. Returns how many. */
static uint32_t fill_rows(
	const struct job_report *report, struct record_region rows[], int64_t *ret_others)
{
	const struct join_region *parts = &report->join.regions[0];
	uint32_t n = 0;

	*ret_others = 0;
	for (uint32_t i = 0; i < parts->n_parts; i++) {
		const struct job_record *record = report->run->records[i];

		for (uint32_t k = 0; k < record->n_sockets; k++) {
			struct record_region *row = &rows[n++];

			*row = (struct record_region){
				.n_sockets = 1,
				.sockets = &parts->parts[i].view.sockets[k],
				.n_others = record->sockets[k].n_others,
			};
			snprintf(row->name, sizeof row->name, "%.50s/%" PRIu32, record->host,
				record->sockets[k].socket);
			*ret_others = most(*ret_others, row->n_others);
		}
	}
	return n;
}

static void print_table(FILE *out, const struct job_report *report)
{
	const struct record *total = &report->join.total;
	struct record table = *total; /* borrows all its members */
	struct record_region *rows = calloc(total->regions[0].n_sockets + 1U, sizeof *rows);
	int64_t others;

	if (!rows)
		return;
	table.rows = "host/socket";
	table.regions = rows;
	table.n_regions = fill_rows(report, rows, &others);
	if (table.n_regions > 1) {
		rows[table.n_regions] = total->regions[0];
		rows[table.n_regions].n_others = others;
		strcpy(rows[table.n_regions++].name, "all");
	}
	if (table.n_regions)
		record_print_regions(out, &table);
	free(rows);
}

/* --- the rest --- */

static void print_met(FILE *out, const struct job_report *report)
{
	for (size_t i = 0; i < report->n_met && i < MET_MOST; i++) {
		const struct job_record *record = report->met[i];

		fprintf(out,
			i ? "   job %s of "
			  : " Other jobs on these hosts meanwhile:\n   job %s of ",
			record->id);
		print_user(out, record->uid);
		fprintf(out, " on %s, ", record->host);
		print_span(out, record);
		fputc('\n', out);
	}
	if (report->n_met > MET_MOST)
		fprintf(out, "   and %zu more, which --json has.\n", report->n_met - MET_MOST);
}

void job_report_print(FILE *out, const struct job_report *report)
{
	print_heading(out, report);
	print_table(out, report);
	join_print_imbalance(out, &report->join);
	fputc('\n', out);
	join_print_notes(out, report->notes);
	print_met(out, report);
	footnotes_print(out, &report->join.total);
}
