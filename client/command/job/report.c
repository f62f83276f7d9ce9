/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/page/page.h"
#include "client/command/page/still.h"
#include "client/records/spread.h"
#include "client/report/quantity.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

void job_report_done(struct job_report *report)
{
	join_done(&report->join);
	free(report->notes);
	free(report->met);
}

/* --- one run --- */

static int job_report_compare_hosts(const void *a, const void *b)
{
	const struct job_record *const *x = a, *const *y = b;

	return strcmp((*x)->host, (*y)->host);
}

/* Has @join the records of this run, and no others, in the same order? */
static bool is_of_run(const struct join *join, const struct job_run *run)
{
	bool is = join->n_records == run->n;

	for (size_t i = 0; is && i < run->n; i++)
		is = strcmp(join->records[i].host, run->records[i]->host) == 0;
	return is;
}

static int fold_again(const struct job_record *record, struct join *join)
{
	_cleanup_(job_record_done) struct job_record whole = { .text = NULL };
	int r = job_record_read_again(record, &whole);

	return r < 0 ? r : join_fold(join, whole.record);
}

static int join_hosts(struct job_records *records, const struct job_run *run, struct join *ret)
{
	int r = 0;

	qsort(run->records, run->n, sizeof(void *), job_report_compare_hosts);
	if (is_of_run(&records->join, run)) {
		*ret = records->join;
		records->join = (struct join){};
	}
	for (size_t i = ret->n_records; r == 0 && i < run->n; i++)
		r = fold_again(run->records[i], ret);
	return r < 0 ? r : join_end_folding(ret, true);
}

/* A machine has a record under one of its names, and so under all of them. */
static int add_names(const struct job_run *run, struct join *join)
{
	int64_t r = 0;

	for (uint32_t i = 0; r >= 0 && i < run->hosts.n; i++)
		r = names_add(&join->hosts, run->hosts.all[i]);
	return r < 0 ? (int)r : 0;
}

static int find_met(const struct job_records *records, struct job_report *report)
{
	const char *id = report->run->records[0]->id;

	report->met = calloc(records->n, sizeof(void *));
	if (!report->met)
		return -ENOMEM;
	for (size_t i = 0; i < records->n; i++)
		if (strcmp(records->all[i].id, id) != 0 &&
			job_run_met(report->run, &records->all[i]))
			report->met[report->n_met++] = &records->all[i];
	return 0;
}

/* Returns how many hosts have no complete record. */
static size_t job_report_write_notes(const struct job_report *report, FILE *out)
{
	const struct job_run *run = report->run;
	size_t n = notes_write_missing(&report->join, report->expected, out);
	bool unused = false;

	fputs(run->machines, out);
	notes_write(&report->join, out);
	for (size_t i = 0; i < run->n; i++) {
		n += !run->records[i]->complete;
		unused |= run->records[i]->n_unused > 0;
	}
	if (report->join.total.regions[0].n_others)
		fputs("others: jobs that were open on the socket meanwhile; the bytes of all are "
		      "in "
		      "the figures.\n",
			out);
	if (unused)
		fputs("Sockets that the job could not use are left out.\n", out);
	return n;
}

int job_report_make(struct job_records *records, const struct job_run *run,
	const struct hostlist *expected, struct job_report *ret)
{
	size_t size_bytes, n_without;
	FILE *out;
	int r;

	*ret = (struct job_report){ .run = run, .expected = expected };
	r = find_met(records, ret);
	if (r == 0)
		r = join_hosts(records, run, &ret->join);
	if (r == 0)
		r = add_names(run, &ret->join);
	if (r < 0)
		return r;
	out = open_memstream(&ret->notes, &size_bytes);
	if (!out)
		return -ENOMEM;
	n_without = job_report_write_notes(ret, out);
	return fclose(out) == EOF ? -ENOMEM : (int)n_without;
}

/* One run is one sum; its key, or the times, tell it from others. */
int job_report_csv(FILE *out, const struct job_run *run)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < run->n; i++) {
		_cleanup_(job_record_done) struct job_record whole = { .text = NULL };

		r = job_record_read_again(run->records[i], &whole);
		if (r == 0)
			record_csv_lines(out, whole.record, 1);
	}
	return r;
}

/* Where reports go. */
struct shown {
	const struct job_options *options;
	struct job_records *records;
	struct jsonwriter json, page_json;
	struct page page;
};

struct host {
	const char *name;
	double figures[2]; /* all memory, and writes; NAN: absent */
};

/* The worst first: those without figures, then those that moved the most. */
static int job_report_by_bytes(const void *a, const void *b)
{
	const double x = ((const struct host *)a)->figures[0];
	const double y = ((const struct host *)b)->figures[0];

	return isnan(x) || isnan(y) ? isnan(y) - isnan(x) : (x < y) - (x > y);
}

static struct host job_report_host_of(const struct join *join, uint32_t part)
{
	return (struct host){
		join->records[join->regions[0].parts[part].record].host,
		{ spread_sum(join, 0, part, ""), spread_sum(join, 0, part, ".write") },
	};
}

static int show_still(FILE *out, const struct join *join)
{
	const uint32_t n = join->regions[0].n_parts;
	_cleanup_free_ struct host *hosts = calloc(n + 1U, sizeof *hosts);
	struct still still = { .out = out,
		.caption = "Bytes of each host, those that moved the most first",
		.columns = { "Host", "All, and written", "Read and written", "Written" },
		.write = quantity_bytes };

	if (!hosts)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		hosts[i] = job_report_host_of(join, i);
		still.most = fmax(still.most, hosts[i].figures[0]);
	}
	qsort(hosts, n, sizeof *hosts, job_report_by_bytes);
	still_begin(&still);
	for (uint32_t i = 0; i < n; i++)
		still_row(&still, hosts[i].name, hosts[i].figures, NULL);
	still_end(&still);
	return 0;
}

static int job_report_show_page(struct shown *shown, const struct job_report *report)
{
	if (!shown->page.file.out)
		return 0;
	job_report_json_short(&shown->page_json, report);
	if (show_still(shown->page.part[PAGE_STILL], &report->join) < 0)
		return -ENOMEM;
	return job_report_print(shown->page.part[PAGE_TEXT], report, shown->options->nodes);
}

/* Returns the number of hosts without a complete record; negative errno. */
static int job_report_show(struct shown *shown, const struct job_run *run)
{
	const struct job_options *options = shown->options;
	struct job_report report = { .run = run };
	int r = options->csv ? job_report_csv(stdout, run) : 0, n_without = 0;

	if (r == 0)
		n_without = r = job_report_make(shown->records, run, &options->hosts, &report);
	if (r >= 0)
		r = job_report_show_page(shown, &report);
	if (r >= 0 && options->csv)
		fputs(report.notes, stderr); /* they must not mix with the output */
	else if (r >= 0 && options->json)
		job_report_json(&shown->json, &report);
	else if (r >= 0)
		r = job_report_print(stdout, &report, options->nodes);
	job_report_done(&report);
	return r < 0 ? r : n_without;
}

/* --- which runs --- */

static bool job_report_is_wanted(
	const struct job_options *options, const struct job_runs *runs, size_t i)
{
	if (options->wish.key)
		return strcmp(runs->all[i].key, options->wish.key) == 0;
	return options->all || i + 1 == runs->n;
}

/* All runs of the job, also those that are not shown. */
static void job_report_write_runs(const struct job_runs *runs, FILE *out)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	jsonwriter_init(&json, false);
	jsonwriter_array(&json, NULL);
	for (size_t i = 0; i < runs->n; i++) {
		jsonwriter_object(&json, NULL);
		jsonwriter_text_or_null(&json, "run", runs->all[i].key);
		jsonwriter_number(&json, "nodes", runs->all[i].n);
		record_json_time(&json, "begin", runs->all[i].records[0]->begin_ns);
		record_json_time(&json, "end", runs->all[i].records[0]->end_ns);
		jsonwriter_text_or_null(&json, "exit", runs->all[i].records[0]->exit);
		jsonwriter_close(&json);
	}
	jsonwriter_close(&json);
	jsonwriter_print(&json, out);
}

/* Ends what job_report_show() has begun. 0; -ENOMEM. */
static int job_report_end_output(struct shown *shown, const struct job_runs *runs)
{
	int r = 0;

	jsonwriter_close(&shown->json);
	jsonwriter_close(&shown->page_json);
	if (shown->options->json)
		r = jsonwriter_print(&shown->json, stdout);
	if (r == 0 && shown->page.file.out) {
		r = jsonwriter_print(&shown->page_json, shown->page.part[PAGE_DATA]);
		job_report_write_runs(runs, shown->page.part[PAGE_MORE]);
	}
	return r;
}

/* Returns the exit status. */
static int show_runs(struct shown *shown, const struct job_runs *runs)
{
	const struct job_options *options = shown->options;
	int status = shown->records->failed ? EXIT_FAILED : 0, r = 0;
	size_t n = 0;

	if (options->json)
		jsonwriter_init(&shown->json, true);
	if (shown->page.file.out)
		jsonwriter_init(&shown->page_json, false);
	jsonwriter_array(&shown->json, NULL);
	jsonwriter_array(&shown->page_json, NULL);
	for (size_t i = 0; r >= 0 && i < runs->n; i++) {
		if (!job_report_is_wanted(options, runs, i))
			continue;
		if (options->csv && !n)
			record_csv_titles(stdout);
		n++;
		r = job_report_show(shown, &runs->all[i]);
		status = r ? EXIT_FAILED : status;
	}
	if (r >= 0 && n)
		r = job_report_end_output(shown, runs);
	if (r < 0)
		fprintf(stderr, "uncore job report: cannot join the records: %s.\n", strerror(-r));
	else if (!n)
		fprintf(stderr, "uncore job report: there is no record of job %s%s%s.\n",
			options->wish.id, options->wish.key ? " with run " : "",
			options->wish.key ? options->wish.key : "");
	return n && r >= 0 ? status : EXIT_FAILED;
}

static void shown_done(struct shown *shown)
{
	jsonwriter_done(&shown->json);
	jsonwriter_done(&shown->page_json);
	page_done(&shown->page);
}

int job_report(const struct job_options *options)
{
	_cleanup_(job_records_done) struct job_records records = { .id = options->wish.id };
	_cleanup_(job_runs_done) struct job_runs runs = { .n = 0 };
	_cleanup_(shown_done) struct shown shown = { .options = options,
		.records = &records,
		.page = { &page_job, "uncore job report", options->html } };
	int status;

	if (page_open(&shown.page) < 0)
		return EXIT_FAILED;
	job_records_read(&records, options->paths, options->n_paths, &options->trust);
	if (job_runs_find(&records, options->wish.id, &runs) < 0) {
		fprintf(stderr, "uncore job report: no memory for the records.\n");
		return EXIT_FAILED;
	}
	status = show_runs(&shown, &runs);
	return page_write(&shown.page) < 0 ? EXIT_FAILED : status;
}
