/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/print.h"

#include <inttypes.h>
#include <string.h>

#include "client/report/columns.h"
#include "client/report/derived.h"
#include "client/report/fold.h"
#include "client/report/format.h"
#include "client/report/quantity.h"
#include "client/report/ranks.h"
#include "common/macro.h"
#include "common/text.h"

/* --- second lines --- */

static void note_passages(
	FILE *out, const struct record *record, const struct record_region *region)
{
	char lost[QUANTITY_MAX];

	if (region->n_failed)
		fprintf(out, "%" PRIu64 " of the passages failed and are not counted; ",
			region->n_failed);
	if (region->n_open)
		fprintf(out, "still open or never ended: %" PRIu64 "; ", region->n_open);
	if (region->n_died)
		fprintf(out, "a process died inside: %" PRIu64 "; ", region->n_died);
	if (region->lost_ns) {
		quantity_time((double)region->lost_ns, lost);
		fprintf(out, "not measured for %s; ", lost);
	}
	if (*record->team && region->n_ranks < record->n_members)
		fprintf(out, "%" PRIu64 " of %" PRIu32 " ranks; ", region->n_ranks,
			record->n_members);
	if (!region->n_sockets)
		fprintf(out, "no figures; ");
}

/* "1.02 of the predicted 304 B per cells" */
static void note_prediction(FILE *out, const struct record_work *work, struct derived volume)
{
	const struct derived ratio = derived_of_predicted(work, volume);
	char predicted[QUANTITY_MAX];

	quantity_bytes(work->predicted, predicted);
	if (derived_is_known(&ratio))
		fprintf(out, "%.3g of the predicted %s per %s; ", ratio.value, predicted,
			work->unit);
	else
		fprintf(out, "predicted %s per %s, absent: %s; ", predicted, work->unit, ratio.why);
}

static void note_work(FILE *out, const struct record *record, const struct record_region *region,
	const struct columns *columns)
{
	struct derived volume = derived_volume(record, region);

	for (size_t i = 0; i < RECORD_UNITS_MAX && *region->work[i].unit; i++) {
		struct derived each = derived_per_work(&region->work[i], volume);
		char text[QUANTITY_MAX];

		if (region->work[i].predicted > 0)
			note_prediction(out, &region->work[i], volume);
		if (strcmp(region->work[i].unit, columns->unit) == 0 ||
			strcmp(region->work[i].unit, DERIVED_STORED) == 0 ||
			!derived_is_known(&each))
			continue;
		quantity_bytes(each.value, text);
		fprintf(out, "%s per %s; ", text, region->work[i].unit);
	}
}

static void print_notes(FILE *out, const struct record *record, const struct record_region *region,
	const struct columns *columns)
{
	_cleanup_free_ char *text = NULL;
	size_t size_bytes = 0;
	FILE *notes = open_memstream(&text, &size_bytes);

	if (!notes)
		return;
	note_passages(notes, record, region);
	ranks_note(notes, record, region);
	note_work(notes, record, region, columns);
	if (fclose(notes) == EOF || size_bytes < strlen("; "))
		return;
	text[size_bytes - strlen("; ")] = '\0';
	text_make_plain(text);
	fputs("   ", out);
	text_fold_to(out, text, 3, 3, columns->line);
}

/* --- rows --- */

static void report_print_titles(FILE *out, const struct columns *columns, unsigned block)
{
	const struct column *first = &columns->columns[0];

	fprintf(out, " %s%*s", first->title, column_padding(first->title, first->width), "");
	for (size_t i = 1; i < columns->n_columns; i++) {
		const struct column *column = &columns->columns[i];

		if (column->block == block)
			fprintf(out, "  %*s%s", column_padding(column->title, column->width), "",
				column->title);
	}
	fputc('\n', out);
}

static bool is_marked(const struct record *record, const struct record_region *region,
	const struct column *column)
{
	return column->is_marked && columns_quality(record, region, column->metric);
}

void record_print_name(FILE *out, const char *name, unsigned width)
{
	if (column_text_width(name) > width)
		fprintf(out, " %s\n %*s", name, (int)width, "");
	else
		fprintf(out, " %s%*s", name, column_padding(name, width), "");
}

/* A star follows a figure that has flags. */
static void report_print_row(FILE *out, const struct record *record,
	const struct record_region *region, const struct columns *columns, unsigned block)
{
	bool marked = false;

	for (size_t i = 0; i < columns->n_columns; i++) {
		const struct column *column = &columns->columns[i];
		char text[COLUMN_CELL_MAX];
		unsigned width;

		if (i > 0 && column->block != block)
			continue;
		width = column_write(record, region, column, text);
		if (i == 0) {
			record_print_name(out, text, column->width);
			continue;
		}
		fprintf(out, "%c %*s%s", marked ? '*' : ' ', (int)(column->width - width), "",
			text);
		marked = is_marked(record, region, column);
	}
	fputs(marked ? "*\n" : "\n", out);
	if (block == 0)
		print_notes(out, record, region, columns);
}

void record_print_regions(FILE *out, const struct record *record)
{
	struct columns columns;

	columns_choose(record, columns_line(record, out), &columns);
	for (unsigned block = 0; block < columns.n_blocks; block++) {
		if (block > 0)
			fputc('\n', out);
		report_print_titles(out, &columns, block);
		for (uint32_t i = 0; i < record->n_regions; i++)
			report_print_row(out, record, &record->regions[i], &columns, block);
	}
}

/* --- above the table --- */

void record_print_ranks(FILE *out, const struct record *record)
{
	fprintf(out, ", %" PRIu32, record->n_members);
	if (record->n_expected)
		fprintf(out, " of %" PRIu32, record->n_expected);
	fprintf(out, record->n_members == 1 && record->n_expected <= 1 ? " rank" : " ranks");
}

void record_print_origin(FILE *out, const struct record *record)
{
	const struct record_member *alone = record->n_members == 1 ? record->members : NULL;

	text_print_plain(out, *record->command ? record->command : "unknown");
	fputs(" (", out);
	if (*record->team) {
		fputs("team ", out);
		text_print_plain(out, record->team);
	} else if (alone) {
		fprintf(out, "pid %" PRId32, alone->pid);
	} else {
		fprintf(out, "%" PRIu32 " processes", record->n_members);
	}
	fputs(", host ", out);
	text_print_plain(out, *record->host ? record->host : "unknown");
	fputs(*record->label ? ", label " : "", out);
	text_print_plain(out, record->label);
	if (*record->team) {
		record_print_ranks(out, record);
		if (record->run > 1)
			fprintf(out, ", run %" PRIu32, record->run);
	} else if (alone && alone->rank >= 0) {
		fprintf(out, ", rank %" PRId64, alone->rank);
	}
	fputc(')', out);
}

/* A program that never reached uncored gets one line, whatever its number of regions. */
static void print_failure(FILE *out, const struct record *record)
{
	fputs("uncore: Regions of ", out);
	record_print_origin(out, record);
	fputs(" have no figures: ", out);
	text_print_plain(out, record->failure);
	fputc('\n', out);
}

static void report_print_heading(FILE *out, const struct record *record)
{
	fputs("\n Regions of ", out);
	record_print_origin(out, record);
	if (*record->platform) {
		fputs(", platform ", out);
		text_print_plain(out, record->platform);
	}
	fputs(":\n", out);
}

void record_print(FILE *out, const struct record *record)
{
	if (!*record->platform && record->failure) {
		print_failure(out, record);
		return;
	}
	record_print_folded(out, record, report_print_heading);
	record_print_regions(out, record);
	footnotes_print(out, record);
}
