/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs of one program that measured different things, side by side: those of uncored, from records,
 * and those of other tools, from CSV. Regions are matched by name. The first run says what a run
 * must have to be shown; those that do not fit are named.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "client/command/report/report-options.h"
#include "client/records/join.h"
#include "client/records/json-reader.h"

enum { MERGE_COLUMNS_MAX = 64, MERGE_NAME_MAX = 64 };

struct merge_run {
	char from[256];       /* the file, or "run 1" of the records */
	char command[256];    /* "": not known */
	uint32_t n_ranks;     /* 0: not known */
	struct names regions; /* owned */
	unsigned n_columns;
	char columns[MERGE_COLUMNS_MAX][MERGE_NAME_MAX];
	double *cells; /* owned; a row for each region; NAN: there is no figure */
};

void merge_run_done(struct merge_run *run);

/* Adds a region, without figures, unless it is there. Its row; NULL: there is no memory. */
double *merge_run_row(struct merge_run *run, const char *region);

/* The row of a region; NULL: the run does not have it. */
const double *merge_run_find(const struct merge_run *run, const char *region);

/*
 * Reads CSV with a column "region", perhaps "rank", and columns of numbers. What ranks have is
 * added up, because bytes have no rank. Changes @text. 0; -EBADMSG, and @ret_why follows the file's
 * name; -ENOMEM. *@ret is for merge_run_done() in any case.
 */
int merge_parse_csv(char *text, struct merge_run *ret, char ret_why[JSON_READER_WHY_MAX]);

/* Is this file one of another tool? */
static inline bool merge_is_csv(const char *path)
{
	const size_t n = strlen(path);

	return n > strlen(".csv") && strcmp(path + n - strlen(".csv"), ".csv") == 0;
}

/* Shows the runs of @join and of the files of CSV. The number of runs that do not fit; -ENOMEM. */
int merge_show(const struct report_options *options, const struct join *join, const char *notes);
