/* SPDX-License-Identifier: BSD-3-Clause */
/* One column of the table of a record. cells.h says what is in it, columns.h which ones there are.
 */
#pragma once

#include "client/report/record.h"

enum { COLUMN_CELL_MAX = 80 }; /* bytes of a cell, with the final NUL */

struct column;

/* What a column says of @region: text without blanks at its ends. */
typedef void column_cell(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX]);

struct column {
	column_cell *cell;
	char title[COLUMN_CELL_MAX];
	uint32_t metric; /* of columns with one; else UINT32_MAX */
	bool is_short;   /* without a rate */
	bool is_marked;  /* where the figure has flags */
	unsigned rank;   /* 0: always there */
	unsigned width;  /* characters */
};

/* How many characters @text has. */
unsigned column_text_width(const char *text);
