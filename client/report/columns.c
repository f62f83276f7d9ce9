/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/report/derived.h"
#include "client/report/format.h"
#include "common/text.h"

const char *columns_rows(const struct record *record)
{
	return record->rows ? record->rows : "region";
}

uint32_t columns_quality(
	const struct record *record, const struct record_region *region, uint32_t metric)
{
	struct derived total = derived_total(region, metric);

	if (format_warning(record->platform))
		total.quality &= ~UNCORE_STANDIN;
	return derived_is_known(&total) ? total.quality : 0;
}

/* --- what the regions need --- */

static bool is_known_anywhere(const struct record *record, uint32_t metric, bool not_0)
{
	for (uint32_t i = 0; i < record->n_regions; i++) {
		struct derived total = derived_total(&record->regions[i], metric);

		if (derived_is_known(&total) && (!not_0 || total.value > 0))
			return true;
	}
	return false;
}

/* The only unit of work; NULL: there is none, or several. */
static const char *only_unit(const struct record *record)
{
	const char *unit = NULL;

	for (uint32_t i = 0; i < record->n_regions; i++) {
		const struct record_work *work = record->regions[i].work;

		for (size_t k = 0; k < RECORD_UNITS_MAX && *work[k].unit; k++) {
			if (strcmp(work[k].unit, DERIVED_STORED) == 0)
				continue;
			if (unit && strcmp(unit, work[k].unit) != 0)
				return NULL;
			unit = work[k].unit;
		}
	}
	return unit;
}

/* What any region has. */
struct needs {
	bool stored, shared, others;
	uint32_t n_sockets; /* at most */
};

static struct needs needs_of(const struct record *record)
{
	struct needs needs = { .n_sockets = 0 };

	for (uint32_t i = 0; i < record->n_regions; i++) {
		const struct record_region *region = &record->regions[i];

		needs.stored |= derived_stored(region) != NULL;
		needs.shared |= region->shared_ns > 0;
		needs.others |= region->n_others != 0;
		if (region->n_sockets > needs.n_sockets)
			needs.n_sockets = region->n_sockets;
	}
	return needs;
}

/* --- columns --- */

/* Columns appear in the order of the table. The rank decides which ones get room first. */
enum { ALWAYS, MEMORY, SHARED, WORK, SPLIT, OTHER, BOUND, WINDOW };

static struct column *columns_add(
	struct columns *columns, column_cell *cell, unsigned rank, const char *title)
{
	struct column *column = &columns->columns[columns->n_columns++];

	*column = (struct column){ .cell = cell, .rank = rank, .metric = UINT32_MAX };
	snprintf(column->title, sizeof column->title, "%s", title);
	return column;
}

static void add_metrics(const struct record *record, struct columns *columns, bool memory)
{
	for (uint32_t i = 0; i < record->n_metrics; i++) {
		struct column *column;

		if (derived_is_memory(record, i) != memory || format_is_check(record->metrics[i]) ||
			!is_known_anywhere(record, i, !memory))
			continue;
		column = columns_add(
			columns, cells_metric, memory ? MEMORY : OTHER, record->metrics[i]);
		column->metric = i;
		column->is_marked = true;
	}
}

static bool is_wide_anywhere(const struct record *record, uint32_t metric)
{
	bool is_wide = false;

	for (uint32_t i = 0; i < record->n_regions && !is_wide; i++) {
		const struct derived_bracket bracket = derived_bracket(&record->regions[i], metric);

		is_wide = derived_is_wide(&bracket);
	}
	return is_wide;
}

static void add_brackets(const struct record *record, struct columns *columns)
{
	char title[COLUMN_CELL_MAX];

	for (uint32_t i = 0; i < record->n_metrics; i++) {
		if (!derived_is_memory(record, i) || !is_wide_anywhere(record, i))
			continue;
		snprintf(title, sizeof title, "%s between", record->metrics[i]);
		columns_add(columns, cells_bracket, SHARED, title)->metric = i;
		columns->has_bracket = true;
	}
}

static void add_work(const struct record *record, bool stored, struct columns *columns)
{
	const char *unit = only_unit(record);
	char title[COLUMN_CELL_MAX];

	if (unit) {
		snprintf(columns->unit, sizeof columns->unit, "%.15s", unit);
		snprintf(title, sizeof title, "per %.15s", unit);
		columns_add(columns, cells_per_work, WORK, title);
	}
	if (stored)
		columns_add(columns, cells_store_ratio, WORK, "store ratio");
}

static void columns_add_all(const struct record *record, struct columns *columns)
{
	const struct needs needs = needs_of(record);

	*columns = (struct columns){ .line = columns->line };
	columns_add(columns, cells_name, ALWAYS, columns_rows(record));
	if (!record->rows) {
		columns_add(columns, cells_passages, ALWAYS, "passages");
		columns_add(columns, cells_each, ALWAYS, "each");
	}
	columns_add(columns, cells_window, WINDOW, "open for");
	add_metrics(record, columns, true);
	columns_add(columns, cells_rate, MEMORY, "rate"); /* if the metrics have no rates */
	add_metrics(record, columns, false);
	add_work(record, needs.stored, columns);
	if (needs.shared)
		columns_add(columns, cells_shared, SHARED, "shared");
	add_brackets(record, columns);
	if (needs.others)
		columns_add(columns, cells_others, SHARED, "others");
	if (needs.n_sockets > 1 && *record->host)
		columns_add(columns, cells_split, SPLIT, "sockets");
	if (needs.n_sockets)
		columns_add(columns, cells_bound, BOUND, "error");
}

/* --- widths --- */

enum { FIGURES_WIDTH = 25 };

unsigned column_text_width(const char *text)
{
	return (unsigned)text_width(text, strlen(text));
}

unsigned column_write(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	strcpy(ret_text, "-");
	column->cell(&(struct cell){ record, region, column, ret_text });
	return column_text_width(ret_text);
}

/* A narrow line of @line characters still has a name, and behind it a metric with its rate. */
static void columns_measure(const struct record *record, unsigned line, struct column *column)
{
	char text[COLUMN_CELL_MAX];

	column->width = column_text_width(column->title);
	for (uint32_t i = 0; i < record->n_regions; i++) {
		unsigned width = column_write(record, &record->regions[i], column, text);

		if (column->cell == cells_name &&
			(width > COLUMNS_NAME_MAX || width + FIGURES_WIDTH > line))
			continue;
		if (width > column->width)
			column->width = width;
	}
}

static unsigned width_up_to(const struct columns *columns, unsigned rank)
{
	unsigned width = 1;

	for (size_t i = 0; i < columns->n_columns; i++)
		if (columns->columns[i].rank <= rank)
			width += columns->columns[i].width + 2;
	return width - 2;
}

/* Either each metric of memory has its rate, or one column has the rate of all memory. */
static void measure_all(const struct record *record, struct columns *columns, bool is_short)
{
	size_t n = columns->n_columns;

	columns->n_columns = 0;
	for (size_t i = 0; i < n; i++) {
		struct column column = columns->columns[i];

		if (column.cell == cells_rate && !is_short)
			continue;
		column.is_short = is_short;
		columns_measure(record, columns->line, &column);
		columns->columns[columns->n_columns++] = column;
	}
}

/* Adds those of @all that have a metric and did not fit: in further blocks, where rates have room.
 */
static void columns_fold(
	const struct record *record, const struct columns *all, struct columns *columns)
{
	unsigned width = columns->line;

	for (size_t i = 0; i < all->n_columns; i++) {
		struct column column = all->columns[i];
		bool is_kept = column.rank == BOUND && columns->line < COLUMNS_LINE_MAX;

		if (!column.block || (column.metric == UINT32_MAX && !is_kept))
			continue;
		column.is_short = false;
		columns_measure(record, columns->line, &column);
		width += column.width + 2;
		if (width > columns->line) {
			width = 1 + columns->columns[0].width + 2 + column.width;
			columns->n_blocks++;
		}
		column.block = columns->n_blocks - 1;
		columns->columns[columns->n_columns++] = column;
	}
}

/* Keeps the columns that fit the first block, in their order, and folds others. */
static void keep_fitting(const struct record *record, struct columns *columns)
{
	struct columns all = *columns;
	unsigned width = width_up_to(columns, ALWAYS);

	for (unsigned rank = MEMORY; rank <= WINDOW; rank++)
		for (size_t i = 0; i < all.n_columns; i++) {
			struct column *column = &all.columns[i];

			if (column->rank != rank)
				continue;
			if (width + column->width + 2 <= columns->line)
				width += column->width + 2;
			else
				column->block = 1;
		}
	columns->n_columns = 0;
	columns->n_blocks = 1;
	for (size_t i = 0; i < all.n_columns; i++)
		if (!all.columns[i].block)
			columns->columns[columns->n_columns++] = all.columns[i];
	columns_fold(record, &all, columns);
}

unsigned columns_line(const struct record *record, FILE *out)
{
	return record->line ? record->line : (unsigned)text_line(out, COLUMNS_LINE_MAX);
}

void columns_choose(const struct record *record, unsigned line, struct columns *ret)
{
	ret->line = line;
	columns_add_all(record, ret);
	measure_all(record, ret, false);
	if (width_up_to(ret, SPLIT) > line) {
		columns_add_all(record, ret);
		measure_all(record, ret, true);
	}
	keep_fitting(record, ret);
}
