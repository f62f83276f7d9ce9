/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/report-files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/frame/json-files.h"
#include "client/records/join-json.h"
#include "client/records/join-print.h"
#include "client/records/notes.h"
#include "client/records/parse.h"
#include "client/records/read.h"
#include "client/records/record-csv.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "common/macro.h"

static const char TITLE[] = "uncore report";

struct found_files {
	struct record_list list;
	bool failed; /* something could not be read */
};

static void found_done(struct found_files *found)
{
	record_list_done(&found->list);
}

/* --- reading --- */

/* A folder may hold other JSON beside the records, which is named but is not a failure. */
static void read_one(const struct json_file *file, void *argument)
{
	struct found_files *found = argument;
	char why[JSON_READER_WHY_MAX];
	int r = file->name ? record_list_parse(file->text, &found->list, why)
			   : record_read(file->path, &found->list, why);

	if (r == 0)
		return;
	fprintf(stderr, "%s: %s %s%s.\n", TITLE, file->path, why,
		file->name ? "; it is left out" : "");
	found->failed |= !file->name || r != -ENOMSG;
}

/* --- showing --- */

static int show_json(
	const struct report_options *options, const struct join *join, const char *notes)
{
	_cleanup_free_ char *text = NULL;
	int r;

	if (join->n_records == 1 && !options->hosts.n_names)
		r = record_json(&join->records[0], &text);
	else
		r = join_json(join, &options->hosts, notes, &text);
	if (r == 0)
		printf("%s\n", text);
	return r;
}

/* The table contains the notes. In other forms, the notes must not mix with the output. */
static int show(const struct report_options *options, const struct join *join, const char *notes)
{
	switch (options->output) {
	case REPORT_JSON:
		return show_json(options, join, notes);
	case REPORT_CSV:
		record_csv(stdout, join->records, join->n_records, &join->runs);
		fputs(notes, stderr);
		return 0;
	default:
		if (join->n_records == 1) {
			record_print(stdout, &join->records[0]);
			fputs(notes, stdout);
		} else {
			join_print(stdout, join, notes, options->nodes);
		}
		return 0;
	}
}

/* Joins the records of @found. Returns the number of missing hosts, or negative errno. */
static int join_and_show(const struct report_options *options, struct found_files *found)
{
	_cleanup_(join_done) struct join join = { .n_records = 0 };
	_cleanup_free_ char *notes = NULL;
	size_t size_bytes, n_missing;
	FILE *out = open_memstream(&notes, &size_bytes);
	int r;

	if (!out)
		return -ENOMEM;
	notes_leave_out_twins(&found->list, out);
	r = join_records(&found->list, &join);
	n_missing = r == 0 ? notes_write_missing(&join, &options->hosts, out) : 0;
	if (r == 0 && join.n_records > 1)
		notes_write(&join, out);
	if (fclose(out) == EOF)
		r = -ENOMEM;
	if (r == 0)
		r = show(options, &join, notes);
	return r < 0 ? r : (int)n_missing;
}

int report_files(const struct report_options *options)
{
	_cleanup_(found_done) struct found_files found = { .failed = false };
	const struct json_files files = {
		.title = TITLE,
		.paths = options->paths,
		.n = options->n_paths,
		.trust = &options->trust,
		.most_bytes = RECORD_FILE_MOST_BYTES,
	};
	int r;

	if (!json_files_each(&files, read_one, &found))
		found.failed = true;
	if (!found.list.n) {
		fprintf(stderr, "%s: there is no record to show.\n", TITLE);
		return EXIT_FAILED;
	}
	r = join_and_show(options, &found);
	if (r < 0)
		fprintf(stderr, "%s: cannot join the records: %s.\n", TITLE, strerror(-r));
	return r || found.failed ? EXIT_FAILED : 0;
}
