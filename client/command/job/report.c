/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/job/options.h"
#include "client/command/page/still.h"
#include "client/records/job-record.h"
#include "client/records/spread.h"
#include "client/report/quantity.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

/* --- one run --- */

/* Where reports go. */
struct shown {
	struct job_found *of;
	struct page page;
	struct jsonwriter json, page_json;
	size_t n; /* runs */
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
		hosts[i] = (struct host){
			join->records[join->regions[0].parts[i].record].host,
			{ spread_sum(join, 0, i, ""), spread_sum(join, 0, i, ".write") },
		};
		still.most = fmax(still.most, hosts[i].figures[0]);
	}
	qsort(hosts, n, sizeof *hosts, job_report_by_bytes);
	still_begin(&still);
	for (uint32_t i = 0; i < n; i++)
		still_row(&still, hosts[i].name, hosts[i].figures, NULL);
	still_end(&still);
	return 0;
}

static int job_report_print(FILE *out, const struct job_report *report)
{
	int r = join_print(out, report->join, report->notes, report->of->found.options->nodes);

	job_report_print_met(out, report);
	return r;
}

static int job_report_write(struct shown *shown, const struct job_report *report)
{
	int r = 0;

	if (shown->page.file.out) {
		job_report_json(&shown->page_json, report, true);
		r = show_still(shown->page.part[PAGE_STILL], report->join);
		if (r == 0)
			r = job_report_print(shown->page.part[PAGE_TEXT], report);
	}
	if (r < 0)
		return r;
	switch (report->of->found.options->output) {
	case REPORT_JSON:
		job_report_json(&shown->json, report, false);
		return 0;
	case REPORT_CSV:
		if (!shown->n)
			record_csv_titles(stdout);
		record_csv(stdout, report->join);
		fputs(report->notes, stderr); /* they must not mix with the output */
		return 0;
	default:
		return job_report_print(stdout, report);
	}
}

/* Returns how many hosts have no complete record; -ENOMEM. */
static int job_report_write_notes(struct job_report *report)
{
	const struct join *join = report->join;
	size_t size_bytes, n;
	FILE *out = open_memstream(&report->notes, &size_bytes);

	if (!out)
		return -ENOMEM;
	n = notes_write_missing(join, &report->of->found.options->hosts, out);
	notes_write(join, out);
	for (uint32_t i = 0; i < join->n_records; i++)
		n += !join->records[i].beside && record_is_incomplete(&join->records[i]);
	return fclose(out) == EOF ? -ENOMEM : (int)n;
}

/* The same. */
static int job_report_show(struct shown *shown, const struct join *join)
{
	struct job_report report = { .of = shown->of, .join = join, .first_ns = INT64_MAX };
	int r, n_without;

	for (uint32_t i = 0; i < join->n_records; i++) {
		const int64_t first_ns = record_first_ns(&join->records[i]);
		const int64_t last_ns = record_last_ns(&join->records[i]);

		report.first_ns = first_ns < report.first_ns ? first_ns : report.first_ns;
		report.last_ns = last_ns > report.last_ns ? last_ns : report.last_ns;
	}
	r = n_without = job_report_write_notes(&report);
	if (r >= 0)
		r = job_report_write(shown, &report);
	shown->n++;
	free(report.notes);
	return r < 0 ? r : n_without;
}

/* --- all runs --- */

static void job_report_write_run(struct jsonwriter *json, const struct record_list *run)
{
	const struct record *first = run->records;
	uint32_t n = 0;

	for (uint32_t i = 0; i < run->n; i++)
		n += !first[i].beside;
	jsonwriter_object(json, NULL);
	jsonwriter_text_or_null(json, "run", first->step);
	jsonwriter_number(json, "nodes", n);
	record_json_time(json, "begin", first->begun_ns);
	record_json_time(json, "end", first->ended_ns);
	jsonwriter_text_or_null(json, "exit", first->batch.exit);
	jsonwriter_close(json);
}

static int job_report_compare_hosts(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return strcmp(x->host, y->host);
}

static bool job_report_is_wanted(
	const struct report_options *options, const struct record_list *run, bool is_last)
{
	bool has_key = false;

	if (!options->run_key)
		return options->all_runs || is_last;
	for (uint32_t i = 0; i < run->n; i++)
		has_key |= strcmp(run->records[i].step, options->run_key) == 0;
	return has_key;
}

/* Moves the records of @run to @ret. 0; -ENOMEM. */
static int job_report_take_run(
	struct record_list *list, const struct runs *runs, uint32_t run, struct record_list *ret)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < list->n; i++)
		if (runs->of[i] == run)
			r = record_list_add(ret, &list->records[i]);
	return r;
}

/* Returns how many hosts have no complete record, or negative errno. */
static int job_report_join(struct shown *shown, struct record_list *run)
{
	_cleanup_(join_done) struct join join = { .n_records = 0 };
	int r = join_records(run, true, &join);

	return r < 0 ? r : job_report_show(shown, &join);
}

/* The same. The records are in the order of their hosts. */
static int job_report_split(struct shown *shown, struct jsonwriter *all)
{
	struct record_list *list = &shown->of->found.list;
	_cleanup_(runs_done) struct runs runs = { .n_runs = 0 };
	int r, n_without = 0;

	qsort(list->records, list->n, sizeof *list->records, job_report_compare_hosts);
	r = runs_find(list->records, list->n, &runs);
	for (uint32_t i = 0; r >= 0 && i < runs.n_runs; i++) {
		_cleanup_(record_list_done) struct record_list run = { .n = 0 };

		r = job_report_take_run(list, &runs, i, &run);
		if (r < 0)
			break;
		job_report_write_run(all, &run);
		if (job_report_is_wanted(shown->of->found.options, &run, i + 1 == runs.n_runs))
			r = job_report_join(shown, &run);
		n_without += r > 0 ? r : 0;
	}
	return r < 0 ? r : n_without;
}

static void shown_done(struct shown *shown)
{
	jsonwriter_done(&shown->json);
	jsonwriter_done(&shown->page_json);
	page_done(&shown->page);
}

/* The same. */
static int job_report_show_all(struct shown *shown)
{
	struct found_files *found = &shown->of->found;
	const struct join *join = &found->join;
	_cleanup_(jsonwriter_done) struct jsonwriter all;
	int r;

	jsonwriter_init(&all, false);
	jsonwriter_init(&shown->json, true);
	jsonwriter_init(&shown->page_json, false);
	jsonwriter_array(&all, NULL);
	jsonwriter_array(&shown->json, NULL);
	jsonwriter_array(&shown->page_json, NULL);
	if (join->is_folded)
		job_report_write_run(&all, &(struct record_list){ join->records, join->n_records });
	r = join->is_folded ? job_report_show(shown, join) : job_report_split(shown, &all);
	jsonwriter_close(&all);
	jsonwriter_close(&shown->json);
	jsonwriter_close(&shown->page_json);
	if (r < 0 || !shown->n)
		return r;
	if (found->options->output == REPORT_JSON && jsonwriter_print(&shown->json, stdout) < 0)
		return -ENOMEM;
	if (shown->page.file.out &&
		(jsonwriter_print(&shown->page_json, shown->page.part[PAGE_DATA]) < 0 ||
			jsonwriter_print(&all, shown->page.part[PAGE_MORE]) < 0))
		return -ENOMEM;
	return r;
}

/* Once the job's hosts are known, those of other jobs are looked for there. Nothing is said of
 * those that cannot be read. */
static int job_report_read_others(struct job_found *of)
{
	const struct join *join = &of->found.join;
	const struct record_list *list = &of->found.list;
	const bool failed = of->found.failed;
	int64_t r = 0;

	for (uint32_t i = 0; r >= 0 && i < join->n_records; i++)
		r = names_add(&of->hosts, join->records[i].host);
	for (uint32_t i = 0; r >= 0 && i < list->n; i++)
		r = names_add(&of->hosts, list->records[i].host);
	of->found.again = of->others = true;
	if (r >= 0 && of->hosts.n)
		found_read_all(&of->found);
	of->found.failed = failed;
	job_report_sort_met(of);
	return r < 0 ? (int)r : 0;
}

static int job_report_read_and_show(struct shown *shown)
{
	struct found_files *found = &shown->of->found;
	const struct report_options *options = found->options;
	const char *title = options->table->command, *key = options->run_key;
	int r;

	found_read_all(found);
	r = found_end(found);
	if (r == 0)
		r = job_report_read_others(shown->of);
	if (r == 0 && shown->of->hosts.n)
		r = job_report_show_all(shown);
	if (r < 0)
		fprintf(stderr, "%s: cannot join the records: %s.\n", title, strerror(-r));
	else if (!shown->n)
		fprintf(stderr, "%s: there is no record of job %s%s%s.\n", title, options->job,
			key ? " with run " : "", key ? key : "");
	return r || !shown->n || found->failed ? EXIT_FAILED : 0;
}

int job_report(const struct report_options *options)
{
	struct job_found of = { .hosts.of_hosts = true };
	_cleanup_(shown_done) struct shown shown = { .of = &of,
		.page = { &page_job, job_report_table.command, options->html } };
	const struct found_reader reader = {
		.most_bytes = RECORD_MOST_BYTES,
		.may_fold = options->output != REPORT_CSV && !options->nodes && !options->run_key &&
			    found_can_read_again(options, "-"),
		.owner = &of,
		.wants = job_report_wants,
		.read = job_report_read,
		.meet = job_report_meet,
	};
	int status = EXIT_FAILED;

	if (page_open(&shown.page) < 0)
		return EXIT_FAILED;
	if (found_begin(options, &reader, &of.found) == 0)
		status = job_report_read_and_show(&shown);
	found_done(&of.found);
	names_done(&of.hosts);
	free(of.met);
	free(of.from_stdin);
	return page_write(&shown.page) < 0 ? EXIT_FAILED : status;
}
