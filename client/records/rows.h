/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions of a total: one for each name and run, and one for each name and record in no run. */
#pragma once

#include "client/records/runs.h"

struct row {
	const char *name; /* borrowed */
	uint32_t run;     /* RUNS_APART: of one record, in no run */
	uint32_t record;  /* first record that has the region */
};

struct rows {
	uint32_t n;
	struct row *all;    /* owned; by name: runs first, then records in no run */
	uint32_t n_names;   /* all that follows is for rows_find() */
	const char **names; /* owned; borrows the names */
	uint32_t n_groups;  /* runs, and records in no run */
	uint32_t *groups;   /* owned; the group of each record */
	uint32_t *numbers;  /* owned; by name and group: 1 + the row; 0: none */
};

/* 0; -ENOMEM. *@ret is for rows_done() in any case. */
int rows_collect(const struct record *records, uint32_t n_records, const struct runs *runs,
	struct rows *ret);

/* The row of region @name of a record. The search begins at @hint, because most nodes have the same
 * regions in the same order. */
uint32_t rows_find(const struct rows *rows, uint32_t record, const char *name, uint32_t hint);

void rows_done(struct rows *rows);
