/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/records/read.h"
#include "client/report/columns.h"
#include "client/report/csv.h"
#include "client/report/derived.h"
#include "client/report/format.h"
#include "common/array.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

enum { BLOCK_COLUMNS = 5, CELL_WIDTH = 16 };

struct merge {
	const struct report_options *options;
	const char *platform;
	unsigned n, n_left_out;
	struct merge_run *runs; /* owned */
	FILE *notes;            /* a line for each run that does not fit, or lacks something */
};

/* --- which runs --- */

/* Writes why @run cannot be of the same program and input as the first one, as the end of a
 * sentence. False: it may be. */
static bool differs(const struct merge *merge, const struct merge_run *run)
{
	const struct merge_run *first = merge->runs;
	FILE *out = merge->notes;

	if (*run->command && *first->command && strcmp(run->command, first->command) != 0)
		return fprintf(out, "%s is of the command %s, not of %s", run->from, run->command,
			       first->command) > 0;
	if (run->n_ranks && first->n_ranks && run->n_ranks != first->n_ranks)
		return fprintf(out, "%s has %" PRIu32 " rank%s, not %" PRIu32, run->from,
			       run->n_ranks, run->n_ranks == 1 ? "" : "s", first->n_ranks) > 0;
	for (uint32_t i = 0; i < run->regions.n; i++)
		if (!merge_run_find(first, run->regions.all[i]))
			return fprintf(out, "%s has the region %s, which %s does not have",
				       run->from, run->regions.all[i], first->from) > 0;
	return !run->regions.n && fprintf(out, "%s has no region", run->from) > 0;
}

static void note_lacking(const struct merge *merge, const struct merge_run *run)
{
	const struct names *regions = &merge->runs->regions;

	for (uint32_t i = 0; i < regions->n; i++)
		if (!merge_run_find(run, regions->all[i]))
			fprintf(merge->notes, "%s has no figures of the region %s.\n", run->from,
				regions->all[i]);
}

/* Takes over @run, or leaves it out and says why. */
static int merge_add_run(struct merge *merge, struct merge_run *run)
{
	if (array_room(&merge->runs, merge->n, sizeof *run) < 0) {
		merge_run_done(run);
		return -ENOMEM;
	}
	if (merge->n && differs(merge, run)) {
		fputs("; it is left out.\n", merge->notes);
		merge->n_left_out++;
		merge_run_done(run);
		return 0;
	}
	merge->runs[merge->n++] = *run;
	note_lacking(merge, run);
	return 0;
}

/* --- runs of records --- */

static int merge_take_region(
	const struct record *total, const struct record_region *region, struct merge_run *run)
{
	double *row = merge_run_row(run, region->name);

	if (!row)
		return -ENOMEM;
	*row++ = (double)derived_window_ns(region);
	for (uint32_t m = 0; m < total->n_metrics; m++)
		if (!format_is_check(total->metrics[m]))
			*row++ = derived_total(region, m).value; /* NAN: it is not known */
	return 0;
}

/* Run @number of the records, from 0; .run of a region is 0 if there is only one. */
static int merge_take_records(const struct join *join, uint32_t number, struct merge_run *run)
{
	const struct record *total = &join->total;
	int r = 0;

	snprintf(run->from, sizeof run->from, "run %" PRIu32, number + 1);
	strcpy(run->columns[run->n_columns++], "open_ns");
	for (uint32_t m = 0; m < total->n_metrics; m++)
		if (!format_is_check(total->metrics[m]))
			snprintf(run->columns[run->n_columns++], MERGE_NAME_MAX, "%s",
				total->metrics[m]);
	for (uint32_t i = 0; i < join->n_records; i++)
		if (join->runs.of[i] == number) {
			memcpy(run->command, join->records[i].command, sizeof run->command);
			run->n_ranks += join->records[i].n_members;
		}
	for (uint32_t i = 0; r == 0 && i < total->n_regions; i++)
		if (total->regions[i].run == number + 1 || join_is_sum(join))
			r = merge_take_region(total, &total->regions[i], run);
	if (r < 0)
		merge_run_done(run);
	return r;
}

static int take_all_records(struct merge *merge, const struct join *join)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < join->runs.n_runs; i++) {
		struct merge_run run = { .n_ranks = 0 };

		r = merge_take_records(join, i, &run);
		r = r < 0 ? r : merge_add_run(merge, &run);
	}
	if (join->n_apart)
		fprintf(merge->notes,
			"%" PRIu32 " records overlap others of their host; they are left out.\n",
			join->n_apart);
	merge->n_left_out += join->n_apart;
	return r;
}

/* --- runs of other tools --- */

static int take_csv(struct merge *merge, const char *path)
{
	struct merge_run run = { .n_ranks = 0 };
	_cleanup_free_ char *text = NULL;
	char why[JSON_READER_WHY_MAX];
	int r = record_read_text(path, &text);

	snprintf(run.from, sizeof run.from, "%s", path);
	snprintf(why, sizeof why, "cannot be read: %s", strerror(-r));
	if (r == 0)
		r = merge_parse_csv(text, &run, why);
	if (r == 0)
		return merge_add_run(merge, &run);
	merge_run_done(&run);
	fprintf(merge->notes, "%s %s; it is left out.\n", path, why);
	merge->n_left_out++;
	return r == -ENOMEM ? r : 0;
}

/* --- output --- */

static unsigned merge_count_columns(const struct merge *merge)
{
	unsigned n = 0;

	for (unsigned i = 0; i < merge->n; i++)
		n += merge->runs[i].n_columns;
	return n;
}

/* Column @number of all runs together; one that an earlier run has, too, is "dram.read#2". The
 * figure of @region, if there is one; else NAN. */
static double merge_cell_of(const struct merge *merge, unsigned number, const char *region,
	char ret_name[2 * MERGE_NAME_MAX])
{
	const struct merge_run *run = merge->runs;
	const double *row;
	unsigned n = 1;

	for (; number >= run->n_columns; run++)
		number -= run->n_columns;
	for (const struct merge_run *before = merge->runs; before < run; before++)
		for (unsigned k = 0; k < before->n_columns; k++)
			n += strcmp(before->columns[k], run->columns[number]) == 0;
	snprintf(ret_name, 2 * MERGE_NAME_MAX, n > 1 ? "%s#%u" : "%s", run->columns[number], n);
	row = region ? merge_run_find(run, region) : NULL;
	return row ? row[number] : NAN;
}

/* The titles, if @region is NULL. */
static void merge_print_line(const struct merge *merge, unsigned from, const char *region)
{
	char name[COLUMN_CELL_MAX] = "region", cell[2 * MERGE_NAME_MAX];
	const unsigned n = merge_count_columns(merge);

	if (region)
		columns_name(region, name);
	printf(" %s%*s", name, column_padding(name, COLUMNS_NAME_MAX), "");
	for (unsigned i = from; i < n && i < from + BLOCK_COLUMNS; i++) {
		const double value = merge_cell_of(merge, i, region, cell);

		if (region)
			snprintf(cell, sizeof cell,
				isnan(value)            ? "-"
				: value == floor(value) ? "%.0f"
							: "%g",
				value);
		printf(" %*s", CELL_WIDTH, cell);
	}
	putchar('\n');
}

static void merge_print_table(const struct merge *merge)
{
	for (unsigned from = 0; from < merge_count_columns(merge); from += BLOCK_COLUMNS) {
		putchar('\n');
		merge_print_line(merge, from, NULL);
		for (uint32_t i = 0; i < merge->runs->regions.n; i++)
			merge_print_line(merge, from, merge->runs->regions.all[i]);
	}
}

static void print_row_of_csv(const struct merge *merge, const char *region)
{
	struct csv csv = { .out = stdout };
	char name[2 * MERGE_NAME_MAX];

	csv_text(&csv, region ? region : "region");
	for (unsigned i = 0; i < merge_count_columns(merge); i++) {
		const double value = merge_cell_of(merge, i, region, name);

		if (!region)
			csv_text(&csv, name);
		else if (isnan(value))
			csv_empty(&csv, 1);
		else
			csv_real(&csv, value);
	}
	csv_end(&csv);
}

static void merge_write_region(
	struct jsonwriter *json, const struct merge *merge, const char *region)
{
	char name[2 * MERGE_NAME_MAX];

	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "name", region);
	jsonwriter_object(json, "metrics");
	for (unsigned i = 0; i < merge_count_columns(merge); i++) {
		const double value = merge_cell_of(merge, i, region, name);

		if (!isnan(value))
			jsonwriter_real(json, name, value);
	}
	jsonwriter_close(json);
	jsonwriter_close(json);
}

static int merge_print_json(const struct merge *merge, const char *notes)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json = { .out = NULL };

	jsonwriter_init(&json, true);
	jsonwriter_object(&json, NULL);
	jsonwriter_text(&json, "platform", merge->platform);
	jsonwriter_array(&json, "runs");
	for (unsigned i = 0; i < merge->n; i++) {
		jsonwriter_object(&json, NULL);
		jsonwriter_text(&json, "from", merge->runs[i].from);
		jsonwriter_text_or_null(&json, "command", merge->runs[i].command);
		jsonwriter_number(&json, "ranks", merge->runs[i].n_ranks);
		jsonwriter_close(&json);
	}
	jsonwriter_close(&json);
	jsonwriter_array(&json, "regions");
	for (uint32_t i = 0; i < merge->runs->regions.n; i++)
		merge_write_region(&json, merge, merge->runs->regions.all[i]);
	jsonwriter_close(&json);
	jsonwriter_text(&json, "notes", notes);
	jsonwriter_close(&json);
	return jsonwriter_print(&json, stdout);
}

static int merge_show_all(const struct merge *merge, const char *notes)
{
	if (!merge->n) {
		fputs(notes, stderr);
		return 0;
	}
	if (merge->options->output == REPORT_JSON)
		return merge_print_json(merge, notes);
	if (merge->options->output == REPORT_TABLE) {
		merge_print_table(merge);
		format_caveats(stdout, merge->platform, "these regions");
		fputs(notes, stdout);
		return 0;
	}
	print_row_of_csv(merge, NULL);
	for (uint32_t i = 0; i < merge->runs->regions.n; i++)
		print_row_of_csv(merge, merge->runs->regions.all[i]);
	fputs(notes, stderr);
	return 0;
}

int merge_show(const struct report_options *options, const struct join *join, const char *notes)
{
	_cleanup_free_ char *text = NULL;
	struct merge merge = { .options = options, .platform = join->total.platform };
	size_t size;
	int r;

	merge.notes = open_memstream(&text, &size);
	if (!merge.notes)
		return -ENOMEM;
	fputs(notes, merge.notes);
	r = take_all_records(&merge, join);
	for (int i = 0; r == 0 && i < options->n_paths; i++)
		if (merge_is_csv(options->paths[i]))
			r = take_csv(&merge, options->paths[i]);
	if (fclose(merge.notes) == EOF)
		r = -ENOMEM;
	if (r == 0)
		r = merge_show_all(&merge, text);
	for (unsigned i = 0; i < merge.n; i++)
		merge_run_done(&merge.runs[i]);
	free(merge.runs);
	return r < 0 ? r : (int)merge.n_left_out;
}
