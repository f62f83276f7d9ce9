/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any text as a log of records of jobs, through all that `uncore job report` does with it. The
 * input is a list of hosts, a newline, and the log.
 *
 * With any input no line of the report has a control character, each record is in one run, and what
 * should be JSON is JSON.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/job/options.h"
#include "client/records/join.h"
#include "client/records/read.h"
#include "common/macro.h"
#include "common/text.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

/* Newlines may only be ends of lines, so these are all that is not plain. */
static void expect_plain(char *text)
{
	for (char *at = text; *at; at++)
		if (*at == '\n')
			*at = ' ';
	if (!text_is_plain(text))
		abort();
}

static void expect_json(const char *text)
{
	_cleanup_(json_document_done) struct json_document document = { .text = NULL };

	if (*text && !json_document_take(&document, strdup(text)))
		abort();
}

static void show(struct report_options *options)
{
	_cleanup_free_ char *text = NULL;
	FILE *former = stdout;
	size_t size_bytes;

	stdout = open_memstream(&text, &size_bytes);
	if (!stdout)
		err(1, "Cannot make a report");
	report_show(options);
	fclose(stdout);
	stdout = former;
	expect_plain(text);
	if (options->output == REPORT_JSON)
		expect_json(text);
}

/* The log, and where it is. */
struct log {
	char *text, *path;
};

static void show_all(struct log *log, const char *job, const struct hostlist *hosts)
{
	char page[256];
	struct report_options options = { .table = &job_report_table,
		.of_job = true,
		.job = job,
		.hosts = *hosts,
		.all_runs = true,
		.paths = &log->path,
		.n_paths = 1 };

	snprintf(page, sizeof page, "%s/page.html", scratch_folder());
	for (enum report_output output = REPORT_TABLE; output <= REPORT_CSV; output++) {
		options.output = output;
		show(&options);
	}
	options.output = REPORT_TABLE;
	options.nodes = true;
	options.html = page;
	show(&options);
}

/* The records of the log; those of regions are none of a job. */
static void read_all(const char *text, struct record_list *list)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *line, why[JSON_READER_WHY_MAX];

	while ((line = strsep(&rest, "\n")))
		record_list_parse(line, list, why);
}

/* Each ID is shown once, with all of its runs. */
static void show_each(struct log *log, const struct hostlist *hosts)
{
	_cleanup_(record_list_done) struct record_list all = { .n = 0 };

	read_all(log->text, &all);
	for (uint32_t i = 0; i < all.n; i++) {
		_cleanup_(record_list_done) struct record_list of_job = { .n = 0 };
		_cleanup_(runs_done) struct runs runs = { .n_runs = 0 };
		char job[sizeof all.records->job];

		if (!all.records[i].rows)
			continue;
		strcpy(job, all.records[i].job);
		for (uint32_t k = i; k < all.n; k++)
			if (all.records[k].rows && strcmp(all.records[k].job, job) == 0)
				record_list_add(&of_job, &all.records[k]);
		if (runs_find(of_job.records, of_job.n, &runs) < 0)
			err(1, "Cannot find runs");
		for (uint32_t k = 0; k < of_job.n; k++)
			if (runs.of[k] >= runs.n_runs)
				abort();
		show_all(log, job, hosts);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	_cleanup_free_ char *input = malloc(size_bytes + 1);
	struct hostlist hosts = { .n_names = 0 };
	struct log log;
	char *text;

	if (!input)
		err(1, "Cannot begin");
	if (size_bytes)
		memcpy(input, data, size_bytes);
	input[size_bytes] = '\0';
	text = input + strcspn(input, "\n");
	if (*text)
		*text++ = '\0';
	hostlist_parse(input, &hosts);
	log = (struct log){ text,
		(char *)scratch_write("the log", (const uint8_t *)text, strlen(text)) };
	show_each(&log, &hosts);
	hostlist_done(&hosts);
	return 0;
}
