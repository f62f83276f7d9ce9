/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/report/columns.h"
#include "client/report/derived.h"
#include "client/report/footnotes.h"
#include "client/report/format.h"
#include "client/report/quantity.h"
#include "common/macro.h"
#include "common/text.h"

/* --- second lines --- */

/* Breaks @text at blanks, and indents each line. */
static void print_wrapped(FILE *out, const char *text)
{
	unsigned column = 0;

	while (*text) {
		size_t n = strcspn(text, " ");
		char word[256];
		unsigned width;

		snprintf(word, sizeof word, "%.*s", (int)n, text);
		width = column_text_width(word);
		if (column && column + 1 + width > COLUMNS_LINE_MAX) {
			fputc('\n', out);
			column = 0;
		}
		column += (unsigned)fprintf(out, column ? " " : "   ") + width;
		text_print_plain(out, word);
		text += n + strspn(text + n, " ");
	}
	if (column)
		fputc('\n', out);
}

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
	if (region->n_measured < region->n_stretches)
		fprintf(out,
			"sampled: %" PRIu64 " of %" PRIu64 " times that it was open were measured "
			"and stand for all; ",
			region->n_measured, region->n_stretches);
	if (*record->team && region->n_ranks < record->n_members)
		fprintf(out, "%" PRIu64 " of %" PRIu32 " ranks; ", region->n_ranks,
			record->n_members);
	if (!region->n_sockets)
		fprintf(out, "no figures; ");
}

static void note_work(FILE *out, const struct record *record, const struct record_region *region,
	const struct columns *columns)
{
	struct derived volume = derived_volume(record, region);

	for (size_t i = 0; i < RECORD_UNITS_MAX && *region->work[i].unit; i++) {
		struct derived each = derived_per_work(&region->work[i], volume);
		char text[QUANTITY_MAX];

		if (strcmp(region->work[i].unit, columns->unit) == 0 ||
			strcmp(region->work[i].unit, DERIVED_STORED) == 0 ||
			!derived_is_known(&each))
			continue;
		quantity_bytes(each.value, text);
		fprintf(out, "%s per %s; ", text, region->work[i].unit);
	}
}

/* The first reason why a region has no estimate, or a note on its estimate, if others have one. */
static void note_estimate(FILE *out, const struct record *record,
	const struct record_region *region, const struct columns *columns)
{
	if (!columns->has_estimates || !region->estimates)
		return;
	for (size_t i = 0; i < (size_t)region->n_sockets * record->n_metrics; i++) {
		const struct record_estimate *estimate = &region->estimates[i];

		const uint32_t metric = (uint32_t)(i % record->n_metrics);
		const struct record_value *value =
			&region->sockets[i / record->n_metrics].values[metric];

		if (!derived_is_memory(record->metrics[metric]) || !estimate->why ||
			value->quality & UNCORE_ABSENT)
			continue;
		fprintf(out, estimate->is_known ? "estimate: %s; " : "no estimate: %s; ",
			estimate->why);
		return;
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
	note_work(notes, record, region, columns);
	note_estimate(notes, record, region, columns);
	if (fclose(notes) == EOF || size_bytes < strlen("; "))
		return;
	text[size_bytes - strlen("; ")] = '\0';
	print_wrapped(out, text);
}

/* --- rows --- */

static void print_titles(FILE *out, const struct columns *columns)
{
	for (size_t i = 0; i < columns->n_columns; i++) {
		const struct column *column = &columns->columns[i];
		bool last = i + 1 == columns->n_columns;

		if (i == 0)
			fprintf(out, " %-*s", (int)column->width, column->title);
		else
			fprintf(out, "%*s", (int)column->width, column->title);
		fputs(last ? "\n" : "  ", out);
	}
}

static bool is_marked(const struct record *record, const struct record_region *region,
	const struct column *column)
{
	return column->is_marked && columns_quality(record, region, column->metric);
}

/* The first cell is aligned left. A name that is too long for it gets its own line. */
static void print_name(FILE *out, const char *name, unsigned width)
{
	if (column_text_width(name) > width)
		fprintf(out, " %s\n %*s", name, (int)width, "");
	else
		fprintf(out, " %s%*s", name, (int)(width - column_text_width(name)), "");
}

/* A star follows a figure that has flags. */
static void print_row(FILE *out, const struct record *record, const struct record_region *region,
	const struct columns *columns)
{
	bool marked = false;

	for (size_t i = 0; i < columns->n_columns; i++) {
		const struct column *column = &columns->columns[i];
		char text[COLUMN_CELL_MAX];

		column->cell(record, region, column, text);
		if (i == 0) {
			print_name(out, text, column->width);
			continue;
		}
		fprintf(out, "%c %*s%s", marked ? '*' : ' ',
			(int)(column->width - column_text_width(text)), "", text);
		marked = is_marked(record, region, column);
	}
	fputs(marked ? "*\n" : "\n", out);
	print_notes(out, record, region, columns);
}

void record_print_regions(FILE *out, const struct record *record)
{
	struct columns columns;

	columns_choose(record, &columns);
	print_titles(out, &columns);
	for (uint32_t i = 0; i < record->n_regions; i++)
		print_row(out, record, &record->regions[i], &columns);
}

/* --- above the table --- */

static void print_ranks(FILE *out, const struct record *record)
{
	fprintf(out, ", %" PRIu32, record->n_members);
	if (record->n_expected)
		fprintf(out, " of %" PRIu32, record->n_expected);
	fprintf(out, " ranks");
	if (record->run > 1)
		fprintf(out, ", run %" PRIu32, record->run);
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
	if (*record->team)
		print_ranks(out, record);
	else if (alone && alone->rank >= 0)
		fprintf(out, ", rank %" PRId64, alone->rank);
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

void record_print(FILE *out, const struct record *record)
{
	if (!*record->platform && *record->failure) {
		print_failure(out, record);
		return;
	}
	fputs("\n Regions of ", out);
	record_print_origin(out, record);
	if (*record->platform) {
		fputs(", platform ", out);
		text_print_plain(out, record->platform);
	}
	fputs(":\n", out);
	record_print_regions(out, record);
	footnotes_print(out, record);
}
