/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/job/report.h"
#include "client/records/spread.h"
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

static void job_report_print_heading(FILE *out, const struct job_report *report)
{
	const struct job_record *first = report->run->records[0];
	const size_t n = report->run->n;
	char time[QUANTITY_MAX];

	fprintf(out, "\n Job %s of ", first->id);
	print_user(out, first->uid);
	if (*report->run->key)
		fprintf(out, ", run %s", report->run->key);
	fprintf(out, ", %zu host%s, ", n, n > 1 ? "s" : "");
	notes_write_span(out, first->begin_ns, first->end_ns);
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

static uint32_t count_sockets(const struct record_region *sum)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sum->n_sockets; i++)
		n += sum->sockets[i].sums->n;
	return n;
}

/* Adds a row for each socket that the job could use on a host, and the socket to @ret. */
static int add_host(const struct job_report *report, uint32_t i, struct record_region rows[],
	struct record_region *ret)
{
	_cleanup_(job_record_done) struct job_record whole = { .text = NULL };
	const uint32_t first = ret->n_sockets;
	int r = job_record_read_again(report->run->records[i], &whole);

	if (r == 0)
		r = join_copy_sockets(&report->join, whole.record, &whole.record->regions[0], ret);
	for (uint32_t k = first; k < ret->n_sockets; k++) {
		rows[k].n_sockets = 1;
		rows[k].n_others = ret->sockets[k].n_others;
		snprintf(rows[k].name, sizeof rows[k].name, "%.50s/%" PRIu32, whole.host,
			whole.record->regions[0].sockets[k - first].socket);
	}
	return r;
}

/* Of all hosts, or only of the worst. */
static int fill_rows(const struct job_report *report, const struct spread *worst,
	struct record_region rows[], struct record_region *ret)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < report->join.regions[0].n_parts; i++) {
		bool is_shown = !worst;

		for (uint32_t k = 0; worst && k < worst->n_worst; k++)
			is_shown |= worst->worst[k].part == i;
		r = is_shown ? add_host(report, i, rows, ret) : 0;
	}
	for (uint32_t i = 0; i < ret->n_sockets; i++)
		rows[i].sockets = &ret->sockets[i];
	return r;
}

static int job_report_print_table(FILE *out, const struct job_report *report, bool nodes)
{
	const struct record *total = &report->join.total;
	const uint32_t n_sockets = count_sockets(&total->regions[0]);
	_cleanup_free_ struct record_region *rows = calloc(n_sockets + 1U, sizeof *rows);
	_cleanup_(record_region_done) struct record_region shown = { .n_sockets = 0 };
	struct record table = *total; /* borrows all its members */
	struct spread spread;
	const bool short_of = !nodes && n_sockets > JOIN_PRINT_LINES &&
			      spread_of(&report->join, 0, SPREAD_ALL, &spread);
	int r = rows ? fill_rows(report, short_of ? &spread : NULL, rows, &shown) : -ENOMEM;

	if (r < 0)
		return r;
	table.rows = "host/socket";
	table.regions = rows;
	table.n_regions = shown.n_sockets;
	if (n_sockets > 1) {
		rows[table.n_regions] = total->regions[0];
		strcpy(rows[table.n_regions++].name, "all");
	}
	if (table.n_regions)
		record_print_regions(out, &table);
	if (short_of)
		fprintf(out,
			" These hosts moved the most; `uncore job report --nodes` prints all "
			"%" PRIu32 " sockets.\n",
			n_sockets);
	return 0;
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
		notes_write_span(out, record->begin_ns, record->end_ns);
		fputc('\n', out);
	}
	if (report->n_met > MET_MOST)
		fprintf(out, "   and %zu more, which --json has.\n", report->n_met - MET_MOST);
}

int job_report_print(FILE *out, const struct job_report *report, bool nodes)
{
	int r;

	job_report_print_heading(out, report);
	r = job_report_print_table(out, report, nodes);
	join_print_imbalance(out, &report->join);
	spread_print(out, &report->join);
	fputc('\n', out);
	join_print_notes(out, report->notes);
	print_met(out, report);
	footnotes_print(out, &report->join.total);
	return r;
}
