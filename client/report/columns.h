/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which columns the table of a record has: those that its regions need. Each column has a rank. If
 * a line has too little room for all, those of less important metrics are folded into further
 * blocks of lines, and other columns are left out.
 */
#pragma once

#include <stdio.h>

#include "client/report/record.h"

enum {
	COLUMN_CELL_MAX = 80,   /* bytes of a cell, with the final NUL */
	COLUMNS_LINE_MAX = 120, /* characters of a line, where no terminal says that it has fewer */
	COLUMNS_NAME_MAX = 30,  /* at most; a longer name gets a line of its own */
	COLUMNS_MAX = 13 + 2 * UNCORE_METRICS_MAX,
};

struct cell {
	const struct record *record;
	const struct record_region *region;
	const struct column *column;
	char *text; /* room for COLUMN_CELL_MAX bytes; "-" until there is a figure */
};

/* Writes the text of a column for a region, without blanks at its ends. */
typedef void column_cell(const struct cell *cell);

column_cell cells_name, cells_passages, cells_each, cells_window, cells_metric, cells_rate,
	cells_per_work, cells_store_ratio, cells_shared, cells_others, cells_bracket, cells_split,
	cells_bound;

struct column {
	column_cell *cell;
	char title[COLUMN_CELL_MAX];
	uint32_t metric; /* UINT32_MAX: the column has no metric */
	bool is_short;   /* without a rate */
	bool is_marked;  /* marks figures that have flags */
	unsigned rank;   /* 0: always there */
	unsigned block;  /* of the table, from 0 */
	unsigned width;  /* columns of a terminal */
};

struct columns {
	unsigned line;     /* characters of a line */
	unsigned n_blocks; /* of lines, one below the other; each begins with the first column */
	size_t n_columns;
	struct column columns[COLUMNS_MAX];
	bool has_bracket;
	char unit[RECORD_UNIT_BYTES]; /* unit of work that has a column; "": none */
};

/* The title of the first column. */
const char *columns_rows(const struct record *record);

/* The characters of a line of @out: text_line(), COLUMNS_LINE_MAX at most. */
unsigned columns_line(const struct record *record, FILE *out);

void columns_choose(const struct record *record, unsigned line, struct columns *ret);

/* Calls .cell of @column, and returns the width. */
unsigned column_write(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX]);

/* A region's name as a cell: in quotes if it has blanks; never a control character. */
void columns_name(const char *name, char ret_text[COLUMN_CELL_MAX]);

/* The columns of a terminal that @text takes. */
unsigned column_text_width(const char *text);

/* The blanks that make it @width wide; printf(3) would count bytes. */
static inline int column_padding(const char *text, unsigned width)
{
	const unsigned n = column_text_width(text);

	return n < width ? (int)(width - n) : 0;
}

/* The flags to mention: all but those that the whole platform has. */
uint32_t columns_quality(
	const struct record *record, const struct record_region *region, uint32_t metric);
