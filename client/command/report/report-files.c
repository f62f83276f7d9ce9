/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/candidates.h"
#include "client/command/report/found.h"
#include "client/command/report/merge.h"
#include "client/command/report/report-options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/libuncore/uncore.h"
#include "client/records/read.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "common/macro.h"

static const char TITLE[] = "uncore report";

/* --- reading --- */

/* The table of a process that ended without a report; see libuncore(3). */
static int read_table(const char *path, struct record_list *list, char *why)
{
	_cleanup_free_ char *json = NULL;
	const int r = uncore_table_record(path, &json);

	if (r >= 0)
		return record_list_parse(json, list, why);
	if (r == -ENOMSG)
		return record_read(path, list, why);
	snprintf(why, JSON_READER_WHY_MAX, "cannot be read: %.*s",
		(int)strcspn(uncore_error_text(), "."), uncore_error_text());
	return r;
}

/* False: it is not of `uncore run --heap`. Without --arrays a folder may hold it, too. */
static bool read_arrays(struct found_files *found, const struct json_file *file)
{
	char *text = NULL;
	int r = 0;

	if (file->name ? !arrays_is_text(file->text) : !arrays_is_file(file->path))
		return false;
	if (!found->options->arrays && file->name)
		return true;
	if (!found->options->arrays)
		r = -EOPNOTSUPP;
	else if (!found->again)
		r = file->name ? ((text = strdup(file->text)) ? 0 : -ENOMEM)
			       : record_read_text(file->path, &text);
	if (text)
		r = arrays_add(&found->arrays, text);
	if (r == 0)
		return true;
	fprintf(stderr, "%s: %s %s.\n", TITLE, file->path,
		r == -EOPNOTSUPP ? "is of `uncore run --heap`: --arrays shows it"
				 : "cannot be read as what `uncore run --heap` writes");
	found->failed = true;
	return true;
}

/* A folder may hold other JSON beside the records, which is named but is not a failure. */
static void report_files_read(struct found_files *found, const struct json_file *file)
{
	const uint32_t first = found->list.n;
	char why[JSON_READER_WHY_MAX];
	int r;

	if (found->options->merge && !file->name && merge_is_csv(file->path))
		return; /* merge_show() reads it */
	if (read_arrays(found, file))
		return;
	r = file->name ? record_list_parse(file->text, &found->list, why)
		       : read_table(file->path, &found->list, why);
	if (r == 0) {
		r = found_take(found, first);
		snprintf(why, sizeof why, "has no room: %s", strerror(-r));
	}
	if (r == 0)
		return;
	if (!found->again)
		fprintf(stderr, "%s: %s %s%s.\n", TITLE, file->path, why,
			file->name ? "; it is left out" : "");
	found->failed |= !file->name || r != -ENOMSG;
}

static bool report_files_wants(const struct found_files *found, const char *name)
{
	return !found->options->job || json_file_may_be_of(name, found->options->job);
}

/* --- showing --- */

static int report_files_show_json(const struct found_files *found, bool is_page, FILE *out)
{
	const struct report_options *options = found->options;
	const struct join *join = &found->join;
	_cleanup_free_ char *text = NULL;
	int r;

	if (join->n_records == 1 && !options->hosts.n_names)
		r = record_json(&join->records[0], &text);
	else
		r = join_json(join, &options->hosts, found->notes, is_page, &text);
	if (r == 0)
		fprintf(out, "%s\n", text);
	return r;
}

/* The table contains the notes. */
static int report_files_show_table(const struct found_files *found, FILE *out)
{
	if (found->join.n_records != 1 || found->join.total.rows)
		return join_print(out, &found->join, found->notes, found->options->nodes);
	record_print(out, &found->join.records[0]);
	fputs(found->notes, out);
	return 0;
}

static int report_files_show_page(const struct found_files *found, struct page *page)
{
	int r;

	if (!page->file.out)
		return 0;
	r = report_files_show_table(found, page->part[PAGE_TEXT]);
	if (r < 0)
		return r;
	report_still(page->part[PAGE_STILL], &found->join.total, &found->join);
	r = report_files_show_json(found, true, page->part[PAGE_DATA]);
	if (r == 0)
		report_more_json(found->options, page,
			found->join.n_records == 1 ? found->join.records[0].platform
						   : found->join.total.platform);
	return r;
}

/* Without the table, the notes must not mix with the output. Returns negative errno, or how much is
 * missing. */
static int report_files_show(const struct found_files *found)
{
	if (found->options->merge)
		return merge_show(found->options, &found->join, found->notes);
	if (found->options->arrays)
		return arrays_show(found->options, &found->arrays, &found->join, found->notes);
	if (found->options->candidates > 0)
		return candidates_show(found->options, &found->join, found->notes);
	switch (found->options->output) {
	case REPORT_JSON:
		return report_files_show_json(found, false, stdout);
	case REPORT_CSV:
		record_csv_titles(stdout);
		record_csv(stdout, &found->join);
		fputs(found->notes, stderr);
		return 0;
	default:
		return report_files_show_table(found, stdout);
	}
}

/* Joins the records of @found. Returns the number of missing hosts, or negative errno. */
static int join_and_show(struct found_files *found, struct page *page)
{
	const struct report_options *options = found->options;
	const struct join *join = &found->join;
	size_t n_missing;
	int r = found_end(found);

	if (r == 0 && !join->is_folded)
		r = join_records(&found->list, false, &found->join);
	twins_done(&found->twins);
	n_missing = r == 0 ? notes_write_missing(join, &options->hosts, found->twins.kind.out) : 0;
	if (r == 0 && (join->n_records > 1 || join->total.rows || options->candidates > 0 ||
			      options->arrays || options->merge))
		notes_write(join, found->twins.kind.out);
	if (fflush(found->twins.kind.out) == EOF)
		r = -ENOMEM;
	if (r == 0)
		r = report_files_show(found);
	if (r == 0)
		r = report_files_show_page(found, page);
	return r < 0 ? r : r + (int)n_missing;
}

static int read_and_show(struct found_files *found, struct page *page)
{
	int r;

	found_read_all(found);
	arrays_join(&found->arrays);
	if (found->arrays.n_files && !found->list.n && !found->join.n_records && !found->error)
		return arrays_show(found->options, &found->arrays, NULL, "") || found->failed
			       ? EXIT_FAILED
			       : 0;
	if (!found->list.n && !found->join.n_records && !found->error) {
		fprintf(stderr, "%s: there is no record to show.\n", TITLE);
		return EXIT_FAILED;
	}
	r = join_and_show(found, page);
	if (r < 0)
		fprintf(stderr, "%s: cannot join the records: %s.\n", TITLE, strerror(-r));
	return r || found->failed || predictions_complain(&found->predictions) ? EXIT_FAILED : 0;
}

int report_files(const struct report_options *options, struct page *page)
{
	const struct found_reader reader = {
		.most_bytes = RECORD_FILE_MOST_BYTES,
		.may_fold = options->output == REPORT_TABLE && !options->nodes && !options->merge &&
			    found_can_read_again(options, NULL),
		.wants = report_files_wants,
		.read = report_files_read,
	};
	struct found_files found;
	int r = found_begin(options, &reader, &found);
	int status = r < 0 ? EXIT_FAILED : read_and_show(&found, page);

	found_done(&found);
	return status;
}
