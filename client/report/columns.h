/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which columns the table of a record has: those that its regions need and that fit a line. Each
 * column has a rank. If there is too little room, the less important ones are left out first.
 */
#pragma once

#include "client/report/column.h"

enum {
	COLUMNS_LINE_MAX = 120, /* characters of a line */
	COLUMNS_NAME_MAX = 30,  /* a longer name gets a line of its own */
	COLUMNS_MAX = 13 + 2 * UNCORE_METRICS_MAX,
};

struct columns {
	size_t n_columns;
	struct column columns[COLUMNS_MAX];
	bool has_metric[UNCORE_METRICS_MAX]; /* the metric has a column */
	bool has_estimates;
	char unit[RECORD_UNIT_BYTES]; /* unit of work that has a column; "": none */
};

/* The title of the first column. */
const char *columns_rows(const struct record *record);

void columns_choose(const struct record *record, struct columns *ret);

/* The flags to mention: all but those that the whole platform has. */
uint32_t columns_quality(
	const struct record *record, const struct record_region *region, uint32_t metric);
