/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/report/candidates.h"
#include "client/command/report/found.h"
#include "client/command/report/merge.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

/* --- joining --- */

/* Records of several runs are read again, and kept; the notes, too. */
static int end_folding(struct found_files *found)
{
	int r = join_end_folding(&found->join);

	if (r != -EXDEV)
		return r;
	join_done(&found->join);
	rewind(found->twins.kind.out);
	found->twins.kind.n = 0;
	found->again = true;
	found->may_fold = false;
	found_read_all(found);
	return 0;
}

static int join_kept(struct found_files *found)
{
	const bool chooses = found->options->of_job && !found->options->all_runs;
	uint32_t n_runs = 0;
	int r;

	notes_leave_out_twins(&found->list, found->twins.kind.out);
	r = chooses ? found_choose_run(found, &n_runs) : 0;
	return r == 0 && found->list.n ? join_records(&found->list, n_runs == 1, &found->join) : r;
}

/* Once the job's hosts are known, those of other jobs are looked for there. */
static int find_met(struct found_files *found)
{
	found->again = found->others = true;
	found_read_all(found);
	met_choose(&found->met, &found->join);
	return found->error;
}

static int join_found(struct found_files *found)
{
	int r = found->error;

	if (r == 0 && found->join.is_folded)
		r = end_folding(found);
	if (r == 0 && !found->join.is_folded)
		r = join_kept(found);
	twins_done(&found->twins);
	if (r == 0 && found->options->of_job && found->join.n_records)
		r = find_met(found);
	return r;
}

/* --- showing --- */

static void write_json(const struct found_files *found, bool is_page, FILE *out)
{
	const struct report_options *options = found->options;
	const struct join *join = &found->join;
	struct jsonwriter json;

	jsonwriter_init_to(&json, !is_page, out);
	if (join->n_records == 1 && !options->hosts.n_names && !options->of_job) {
		record_json_member(&json, NULL, &join->records[0]);
	} else {
		jsonwriter_object(&json, NULL);
		join_json(&json, join, &options->hosts, found->notes, is_page);
		if (options->of_job)
			met_json(&json, &found->met);
		jsonwriter_close(&json);
	}
	fputc('\n', out);
}

/* The table contains the notes. */
static int report_files_show_table(const struct found_files *found, FILE *out)
{
	int r;

	if (found->join.n_records != 1 || found->join.total.rows) {
		r = join_print(out, &found->join, found->notes, found->options->nodes);
		met_print(out, &found->met);
		return r;
	}
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
	write_json(found, true, page->part[PAGE_DATA]);
	report_more_json(found->options, page,
		found->join.n_records == 1 ? found->join.records[0].platform
					   : found->join.total.platform);
	return 0;
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
		write_json(found, false, stdout);
		return 0;
	case REPORT_CSV:
		record_csv_titles(stdout);
		record_csv(stdout, &found->join);
		fputs(found->notes, stderr);
		return 0;
	default:
		return report_files_show_table(found, stdout);
	}
}

/* How many hosts have no record; of a job, no complete one. */
static size_t write_notes(struct found_files *found)
{
	const struct report_options *options = found->options;
	const struct join *join = &found->join;
	FILE *out = found->twins.kind.out;
	size_t n = notes_write_missing(join, &options->hosts, out);

	if (join->n_records > 1 || join->total.rows || options->candidates > 0 || options->arrays ||
		options->merge)
		notes_write(join, out);
	for (uint32_t i = 0; options->of_job && i < join->n_records; i++)
		n += !join->records[i].beside && record_is_incomplete(&join->records[i]);
	return n;
}

/* Returns how much is missing, or negative errno. */
static int show_found(struct found_files *found, struct page *page)
{
	const size_t n_missing = write_notes(found);
	int r = fflush(found->twins.kind.out) == EOF ? -ENOMEM : 0;

	if (r == 0)
		r = report_files_show(found);
	if (r == 0)
		r = report_files_show_page(found, page);
	return r < 0 ? r : r + (int)n_missing;
}

static int say_nothing_found(const struct report_options *options)
{
	const char *key = options->run_key;

	if (options->job)
		fprintf(stderr, "%s: there is no record of job %s%s%s.\n", options->table->command,
			options->job, key ? " with run " : "", key ? key : "");
	else
		fprintf(stderr, "%s: there is no record to show.\n", options->table->command);
	return EXIT_FAILED;
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
	r = join_found(found);
	if (r == 0 && !found->join.n_records)
		return say_nothing_found(found->options);
	if (r == 0)
		r = show_found(found, page);
	if (r < 0)
		fprintf(stderr, "%s: cannot join the records: %s.\n",
			found->options->table->command, strerror(-r));
	return r || found->failed || predictions_complain(&found->predictions) ? EXIT_FAILED : 0;
}

int report_files(const struct report_options *options, struct page *page)
{
	struct found_files found;
	int r = found_begin(options, &found);
	int status = r < 0 ? EXIT_FAILED : read_and_show(&found, page);

	found_done(&found);
	return status;
}
