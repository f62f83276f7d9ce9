/* SPDX-License-Identifier: BSD-3-Clause */
/* One column of the table of a record. cells.h has its text, columns.h the choice of columns. */
#pragma once

#include "client/report/record.h"

enum { COLUMN_CELL_MAX = 80 }; /* bytes of a cell, with the final NUL */

struct column;

/* Writes the text of a column for @region, without blanks at its ends. */
typedef void column_cell(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX]);

struct column {
	column_cell *cell;
	char title[COLUMN_CELL_MAX];
	uint32_t metric; /* UINT32_MAX: the column has no metric */
	bool is_short;   /* without a rate */
	bool is_marked;  /* marks figures that have flags */
	unsigned rank;   /* 0: always there */
	unsigned width;  /* characters */
};

/* The number of characters of @text. */
unsigned column_text_width(const char *text);
