/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/report/cells.h"
#include "client/report/derived.h"
#include "client/report/format.h"

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

static bool has_estimate(const struct record *record, uint32_t metric)
{
	for (uint32_t i = 0; i < record->n_regions; i++) {
		const struct record_region *region = &record->regions[i];

		for (uint32_t k = 0; region->estimates && k < region->n_sockets; k++)
			if (region->estimates[(size_t)k * record->n_metrics + metric].is_known)
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

static bool any_stored(const struct record *record)
{
	for (uint32_t i = 0; i < record->n_regions; i++)
		if (derived_stored(&record->regions[i]))
			return true;
	return false;
}

static bool any_shared(const struct record *record)
{
	for (uint32_t i = 0; i < record->n_regions; i++)
		if (record->regions[i].shared_ns)
			return true;
	return false;
}

static bool any_others(const struct record *record)
{
	for (uint32_t i = 0; i < record->n_regions; i++)
		if (record->regions[i].n_others)
			return true;
	return false;
}

static uint32_t most_sockets(const struct record *record)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < record->n_regions; i++)
		if (record->regions[i].n_sockets > most)
			most = record->regions[i].n_sockets;
	return most;
}

/* --- columns --- */

/* Columns appear in the order of the table. The rank decides which ones get room first. */
enum { ALWAYS, MEMORY, SHARED, WORK, SPLIT, OTHER, BOUND, WINDOW };

static struct column *add(
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

		if (derived_is_memory(record->metrics[i]) != memory ||
			format_is_check(record->metrics[i]) ||
			!is_known_anywhere(record, i, !memory))
			continue;
		column = add(columns, cells_metric, memory ? MEMORY : OTHER, record->metrics[i]);
		column->metric = i;
		column->is_marked = true;
	}
}

static void add_estimates(const struct record *record, struct columns *columns)
{
	char title[COLUMN_CELL_MAX];

	for (uint32_t i = 0; i < record->n_metrics; i++) {
		if (!derived_is_memory(record->metrics[i]) || !has_estimate(record, i) ||
			!is_known_anywhere(record, i, false))
			continue;
		snprintf(title, sizeof title, "own %s", record->metrics[i]);
		add(columns, cells_estimate, SHARED, title)->metric = i;
		columns->has_estimates = true;
	}
}

static void add_work(const struct record *record, struct columns *columns)
{
	const char *unit = only_unit(record);
	char title[COLUMN_CELL_MAX];

	if (unit) {
		snprintf(columns->unit, sizeof columns->unit, "%.15s", unit);
		snprintf(title, sizeof title, "per %.15s", unit);
		add(columns, cells_per_work, WORK, title);
	}
	if (any_stored(record))
		add(columns, cells_store_ratio, WORK, "store ratio");
}

static void add_all(const struct record *record, struct columns *columns)
{
	*columns = (struct columns){};
	add(columns, cells_name, ALWAYS, columns_rows(record));
	if (!record->rows) {
		add(columns, cells_passages, ALWAYS, "passages");
		add(columns, cells_each, ALWAYS, "each");
	}
	add(columns, cells_window, WINDOW, "open for");
	add_metrics(record, columns, true);
	add(columns, cells_rate, MEMORY, "rate"); /* if the metrics have no rates */
	add_metrics(record, columns, false);
	add_work(record, columns);
	if (any_shared(record))
		add(columns, cells_shared, SHARED, "shared");
	if (any_others(record))
		add(columns, cells_others, SHARED, "others");
	add_estimates(record, columns);
	if (most_sockets(record) > 1 && *record->host)
		add(columns, cells_split, SPLIT, "sockets");
	if (most_sockets(record))
		add(columns, cells_bound, BOUND, "error");
}

/* --- widths --- */

static void measure(const struct record *record, struct column *column)
{
	char text[COLUMN_CELL_MAX];

	column->width = column_text_width(column->title);
	for (uint32_t i = 0; i < record->n_regions; i++) {
		unsigned width;

		column->cell(record, &record->regions[i], column, text);
		width = column_text_width(text);
		if (column->cell == cells_name && width > COLUMNS_NAME_MAX)
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
		measure(record, &column);
		columns->columns[columns->n_columns++] = column;
	}
}

/* Keeps the columns that fit, in their order. */
static void keep_fitting(struct columns *columns)
{
	struct columns kept = *columns;
	unsigned width = width_up_to(columns, ALWAYS);

	for (unsigned rank = MEMORY; rank <= WINDOW; rank++)
		for (size_t i = 0; i < kept.n_columns; i++) {
			struct column *column = &kept.columns[i];

			if (column->rank != rank)
				continue;
			if (width + column->width + 2 <= COLUMNS_LINE_MAX)
				width += column->width + 2;
			else
				column->cell = NULL;
		}
	columns->n_columns = 0;
	for (size_t i = 0; i < kept.n_columns; i++)
		if (kept.columns[i].cell)
			columns->columns[columns->n_columns++] = kept.columns[i];
}

void columns_choose(const struct record *record, struct columns *ret)
{
	add_all(record, ret);
	measure_all(record, ret, false);
	if (width_up_to(ret, SPLIT) > COLUMNS_LINE_MAX) {
		add_all(record, ret);
		measure_all(record, ret, true);
	}
	keep_fitting(ret);
	for (size_t i = 0; i < ret->n_columns; i++)
		if (ret->columns[i].cell == cells_metric)
			ret->has_metric[ret->columns[i].metric] = true;
}
