/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/arrays.h"
#include "client/command/report/candidates.h"
#include "client/command/report/merge.h"
#include "client/command/report/report-options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/command/frame/command.h"
#include "client/command/frame/json-files.h"
#include "client/command/markers/lines.h"
#include "client/libuncore/uncore.h"
#include "client/records/join.h"
#include "client/records/read.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "common/macro.h"

static const char TITLE[] = "uncore report";

/* Records are kept as they are until there are many. */
struct found_files {
	const struct report_options *options;
	struct predictions predictions; /* those of .options, and which ones fit */
	struct record_list list;
	struct join join; /* of many records, folded */
	struct twins twins;
	struct arrays arrays;
	char *notes; /* owned; what twins.kind.out writes */
	size_t n_regions;
	bool may_fold, again;
	int error;   /* of folding */
	bool failed; /* something could not be read */
};

/* --- reading --- */

static int report_files_fold(struct found_files *found)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < found->list.n; i++)
		if (!notes_is_twin(&found->twins, &found->list.records[i]))
			r = join_fold(&found->join, &found->list.records[i]);
	record_list_cut(&found->list, 0);
	found->error = r == -ENOMEM ? r : found->error;
	return r;
}

/* Drops the records of other jobs than --job's from @first on. The list may have a long ID cut. */
static void drop_others(struct found_files *found, uint32_t first)
{
	struct record_list *list = &found->list;
	uint32_t n = first;

	for (uint32_t i = first; i < list->n; i++)
		if (strncmp(list->records[i].job, found->options->job,
			    sizeof list->records->job - 1) == 0)
			list->records[n++] = list->records[i];
		else
			record_done(&list->records[i]);
	list->n = n;
}

/* Takes the records of the list from @first on. */
static int report_files_take_records(struct found_files *found, uint32_t first)
{
	if (found->options->job)
		drop_others(found, first);
	for (uint32_t i = first; i < found->list.n; i++) {
		lines_find(&found->list.records[i]);
		predictions_apply(&found->predictions, &found->list.records[i]);
		found->n_regions += found->list.records[i].n_regions;
	}
	return found->may_fold && found->n_regions > JOIN_PRINT_LINES ? report_files_fold(found)
								      : 0;
}

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
static void read_one(const struct json_file *file, void *argument)
{
	struct found_files *found = argument;
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
		r = report_files_take_records(found, first);
		snprintf(why, sizeof why, "has no room: %s", strerror(-r));
	}
	if (r == 0)
		return;
	if (!found->again)
		fprintf(stderr, "%s: %s %s%s.\n", TITLE, file->path, why,
			file->name ? "; it is left out" : "");
	found->failed |= !file->name || r != -ENOMSG;
}

static bool is_wanted(const char *name, void *argument)
{
	const struct found_files *found = argument;

	return !found->options->job || json_file_may_be_of(name, found->options->job);
}

/* A pipe is read once. */
static bool can_read_again(const struct report_options *options)
{
	struct stat status;

	for (int i = 0; i < options->n_paths; i++)
		if (stat(options->paths[i], &status) < 0 ||
			!(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
			return false;
	return true;
}

static void report_files_read_all(struct found_files *found)
{
	const struct json_files files = {
		.title = TITLE,
		.paths = found->options->paths,
		.n = found->options->n_paths,
		.trust = &found->options->trust,
		.most_bytes = RECORD_FILE_MOST_BYTES,
		.again = found->again,
		.wants = is_wanted,
	};

	if (!json_files_each(&files, read_one, found))
		found->failed = true;
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
	if (found->join.n_records != 1)
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
		record_csv(stdout, &found->join);
		fputs(found->notes, stderr);
		return 0;
	default:
		return report_files_show_table(found, stdout);
	}
}

/* Records of several runs are read again, and kept; the notes, too. */
static int join_found(struct found_files *found)
{
	int r = found->error;

	if (r == 0 && found->join.is_folded)
		r = join_end_folding(&found->join, false);
	if (r == -EXDEV) {
		join_done(&found->join);
		rewind(found->twins.kind.out);
		found->twins.kind.n = 0;
		found->again = true;
		found->may_fold = false;
		report_files_read_all(found);
		r = 0;
	}
	if (r < 0 || found->join.is_folded)
		return r;
	notes_leave_out_twins(&found->list, found->twins.kind.out);
	return join_records(&found->list, &found->join);
}

/* Joins the records of @found. Returns the number of missing hosts, or negative errno. */
static int join_and_show(struct found_files *found, struct page *page)
{
	const struct report_options *options = found->options;
	const struct join *join = &found->join;
	size_t n_missing;
	int r = join_found(found);

	twins_done(&found->twins);
	n_missing = r == 0 ? notes_write_missing(join, &options->hosts, found->twins.kind.out) : 0;
	if (r == 0 && (join->n_records > 1 || options->candidates > 0 || options->arrays ||
			      options->merge))
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

	report_files_read_all(found);
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
	struct found_files found = {
		.options = options,
		.predictions = options->predictions,
		.may_fold = options->output == REPORT_TABLE && !options->nodes && !options->merge &&
			    can_read_again(options),
	};
	size_t size_bytes;
	int status = EXIT_FAILED;

	found.twins.kind.out = open_memstream(&found.notes, &size_bytes);
	if (found.twins.kind.out) {
		status = read_and_show(&found, page);
		fclose(found.twins.kind.out);
	}
	arrays_done(&found.arrays);
	join_done(&found.join);
	record_list_done(&found.list);
	free(found.notes);
	return status;
}
