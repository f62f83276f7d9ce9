/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/report.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/records/notes.h"
#include "common/macro.h"

void job_report_done(struct job_report *report)
{
	join_done(&report->join);
	free(report->notes);
	free(report->met);
}

/* --- one run --- */

static int compare_hosts(const void *a, const void *b)
{
	const struct job_record *const *x = a, *const *y = b;

	return strcmp((*x)->host, (*y)->host);
}

/* Takes the figures out of the records. */
static int join_hosts(const struct job_run *run, struct join *ret)
{
	struct record_list list = { .n = 0 };
	int r = 0;

	qsort(run->records, run->n, sizeof(void *), compare_hosts);
	for (size_t i = 0; r == 0 && i < run->n; i++)
		r = record_list_add(&list, &run->records[i]->record);
	if (r < 0) {
		record_list_done(&list);
		return r;
	}
	return join_run(&list, ret);
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

static bool is_shared(const struct job_record *record)
{
	for (uint32_t i = 0; i < record->n_sockets; i++)
		if (record->sockets[i].n_others)
			return true;
	return false;
}

/* Returns how many hosts have no complete record. */
static size_t write_notes(const struct job_report *report, FILE *out)
{
	const struct job_run *run = report->run;
	size_t n = notes_write_missing(&report->join, report->expected, out);
	bool shared = false, unused = false;

	notes_write(&report->join, out);
	for (size_t i = 0; i < run->n; i++) {
		n += !run->records[i]->complete;
		shared |= is_shared(run->records[i]);
		unused |= run->records[i]->n_unused > 0;
	}
	if (shared)
		fputs("others: jobs that were open on the socket meanwhile; the bytes of all are "
		      "in "
		      "the figures.\n",
			out);
	if (unused)
		fputs("Sockets that the job could not use are left out.\n", out);
	return n;
}

int job_report_make(const struct job_records *records, const struct job_run *run,
	const struct hostlist *expected, struct job_report *ret)
{
	size_t size_bytes, n_without;
	FILE *out;
	int r;

	*ret = (struct job_report){ .run = run, .expected = expected };
	r = find_met(records, ret);
	if (r == 0)
		r = join_hosts(run, &ret->join);
	if (r < 0)
		return r;
	out = open_memstream(&ret->notes, &size_bytes);
	if (!out)
		return -ENOMEM;
	n_without = write_notes(ret, out);
	return fclose(out) == EOF ? -ENOMEM : (int)n_without;
}

/* @list: of a report in JSON, or NULL. */
static int show(const struct job_options *options, const struct job_records *records,
	const struct job_run *run, struct json_object *list)
{
	struct job_report report;
	int r = job_report_make(records, run, &options->hosts, &report);

	if (r >= 0 && list) {
		struct json_object *element = job_report_json(&report);

		if (!element || json_object_array_add(list, element) < 0)
			r = -ENOMEM;
	} else if (r >= 0) {
		job_report_print(stdout, &report);
	}
	job_report_done(&report);
	return r;
}

/* --- which runs --- */

static bool is_wanted(const struct job_options *options, const struct job_runs *runs, size_t i)
{
	if (options->wish.key)
		return strcmp(runs->all[i].key, options->wish.key) == 0;
	return options->all || i + 1 == runs->n;
}

/* Returns the exit status. */
static int show_runs(const struct job_options *options, const struct job_records *records,
	const struct job_runs *runs)
{
	struct json_object *list = options->json ? json_object_new_array() : NULL;
	int status = records->failed ? EXIT_FAILED : 0, r = 0;
	size_t n = 0;

	for (size_t i = 0; r >= 0 && i < runs->n; i++) {
		if (!is_wanted(options, runs, i))
			continue;
		n++;
		r = show(options, records, &runs->all[i], list);
		status = r ? EXIT_FAILED : status;
	}
	if (r < 0)
		fprintf(stderr, "uncore job report: cannot join the records: %s.\n", strerror(-r));
	else if (!n)
		fprintf(stderr, "uncore job report: there is no record of job %s%s%s.\n",
			options->wish.id, options->wish.key ? " with run " : "",
			options->wish.key ? options->wish.key : "");
	else if (list)
		printf("%s\n", json_object_to_json_string_ext(list,
				       JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(list);
	return n ? status : EXIT_FAILED;
}

int job_report(const struct job_options *options)
{
	_cleanup_(job_records_done) struct job_records records = { .id = options->wish.id };
	_cleanup_(job_runs_done) struct job_runs runs = { .n = 0 };

	job_records_read(&records, options->paths, options->n_paths, &options->trust);
	if (job_runs_find(&records, options->wish.id, &runs) < 0) {
		fprintf(stderr, "uncore job report: no memory for the records.\n");
		return EXIT_FAILED;
	}
	return show_runs(options, &records, &runs);
}
