/* SPDX-License-Identifier: BSD-3-Clause */
/* Which regions a total has: of each name, one for each run and for each record that is in none. */
#pragma once

#include "client/records/runs.h"

struct row {
	const char *name; /* borrowed */
	uint32_t run;     /* RUNS_APART: of one record */
	uint32_t record;  /* the first one that has it */
};

struct rows {
	uint32_t n;
	struct row *all;    /* owned: name by name, first the runs, then the records in none */
	uint32_t n_names;   /* all that follows is for rows_find() */
	const char **names; /* owned; borrows the names */
	uint32_t n_groups;  /* runs, and records that are in none */
	uint32_t *groups;   /* owned: of each record */
	uint32_t *numbers;  /* owned: by name and group; 0: there is none, else one more */
};

/* 0; -ENOMEM. *@ret is for rows_done() in any case. */
int rows_collect(const struct record *records, uint32_t n_records, const struct runs *runs,
	struct rows *ret);

/* The row of region @name of a record. Nodes mostly have the same regions in the same order, so the
 * search begins at @hint. */
uint32_t rows_find(const struct rows *rows, uint32_t record, const char *name, uint32_t hint);

void rows_done(struct rows *rows);
