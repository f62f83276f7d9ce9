/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any text as a log of records of jobs, through all that `uncore job report` does with it. The
 * input is a list of hosts, a newline, and the log.
 *
 * With any input no line of the report has a control character, and each record is in one run.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/job/report.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/text.h"
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

static void show(
	struct job_records *records, const struct job_run *run, const struct hostlist *hosts)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	_cleanup_free_ char *text = NULL, *written = NULL;
	struct job_report report;
	size_t size_bytes;
	FILE *out = open_memstream(&text, &size_bytes);

	if (!out || job_report_make(records, run, hosts, &report) < 0)
		err(1, "Cannot make a report");
	job_report_print(out, &report, false);
	job_report_print(out, &report, true);
	job_report_csv(out, run);
	fclose(out);
	expect_plain(text);
	jsonwriter_init(&json, true);
	job_report_json(&json, &report);
	if (jsonwriter_finish(&json, &written) < 0)
		err(1, "Cannot write a report");
	expect_plain(written);
	job_report_done(&report);
}

/* Each ID is shown once, with all of its runs. */
static void show_all(struct job_records *records, const struct hostlist *hosts)
{
	for (size_t i = 0; i < records->n; i++) {
		const char *id = records->all[i].id;
		struct job_runs runs;
		size_t n = 0, n_in_runs = 0;

		if (i && strcmp(id, records->all[i - 1].id) == 0)
			continue;
		if (job_runs_find(records, id, &runs) < 0)
			err(1, "Cannot find runs");
		for (size_t k = 0; k < runs.n; k++) {
			n_in_runs += runs.all[k].n;
			show(records, &runs.all[k], hosts);
		}
		for (size_t k = 0; k < records->n; k++)
			n += strcmp(records->all[k].id, id) == 0;
		if (n != n_in_runs)
			abort();
		job_runs_done(&runs);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	_cleanup_free_ char *input = malloc(size_bytes + 1);
	struct hostlist hosts = { .n_names = 0 };
	struct job_records records = { .n = 0 };
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
	job_records_take(&records, "the log", text);
	job_records_drop_twins(&records);
	show_all(&records, &hosts);
	job_records_done(&records);
	hostlist_done(&hosts);
	return 0;
}
