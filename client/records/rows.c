/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void rows_done(struct rows *rows)
{
	free(rows->all);
	free(rows->names);
	free(rows->groups);
	free(rows->numbers);
}

/* The place of @name. If it is not there: the number of names. */
static uint32_t find_name(const struct rows *rows, const char *name, uint32_t hint)
{
	for (uint32_t i = 0; i < rows->n_names; i++) {
		uint32_t at = (hint % rows->n_names + i) % rows->n_names;

		if (strcmp(rows->names[at], name) == 0)
			return at;
	}
	return rows->n_names;
}

static uint32_t *number_of(const struct rows *rows, uint32_t name, uint32_t group)
{
	return &rows->numbers[(size_t)name * rows->n_groups + group];
}

uint32_t rows_find(const struct rows *rows, uint32_t record, const char *name, uint32_t hint)
{
	return *number_of(rows, find_name(rows, name, hint), rows->groups[record]) - 1;
}

/* Collects the names, in the order of the first node that has them. */
static int collect_names(const struct record *records, uint32_t n_records, struct rows *rows)
{
	size_t n_most = 1;

	for (uint32_t i = 0; i < n_records; i++)
		n_most += records[i].n_regions;
	rows->names = calloc(n_most, sizeof *rows->names);
	if (!rows->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_records; i++)
		for (uint32_t k = 0; k < records[i].n_regions; k++) {
			const char *name = records[i].regions[k].name;
			const uint32_t at = find_name(rows, name, k);

			rows->names[at] = name;
			rows->n_names += at == rows->n_names;
		}
	return 0;
}

static int collect_groups(uint32_t n_records, const struct runs *runs, struct rows *rows)
{
	rows->n_groups = runs->n_runs;
	rows->groups = calloc(n_records, sizeof *rows->groups);
	if (!rows->groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_records; i++)
		rows->groups[i] = runs->of[i] == RUNS_APART ? rows->n_groups++ : runs->of[i];
	rows->numbers = calloc((size_t)rows->n_names * rows->n_groups + 1, sizeof *rows->numbers);
	return rows->numbers ? 0 : -ENOMEM;
}

/* Stores, for each row, 1 + the first record that has it. Returns the number of rows. */
static size_t mark_rows(const struct record *records, uint32_t n_records, const struct rows *rows)
{
	size_t n = 0;

	for (uint32_t i = 0; i < n_records; i++)
		for (uint32_t k = 0; k < records[i].n_regions; k++) {
			const uint32_t name = find_name(rows, records[i].regions[k].name, k);
			uint32_t *number = number_of(rows, name, rows->groups[i]);

			n += !*number;
			*number = *number ? *number : i + 1;
		}
	return n;
}

static void number_rows(const struct runs *runs, struct rows *rows)
{
	for (uint32_t i = 0; i < rows->n_names; i++)
		for (uint32_t group = 0; group < rows->n_groups; group++) {
			uint32_t *number = number_of(rows, i, group);

			if (!*number)
				continue;
			rows->all[rows->n++] = (struct row){
				.name = rows->names[i],
				.run = group < runs->n_runs ? group : RUNS_APART,
				.record = *number - 1,
			};
			*number = rows->n;
		}
}

int rows_collect(
	const struct record *records, uint32_t n_records, const struct runs *runs, struct rows *ret)
{
	int r = collect_names(records, n_records, ret);

	if (r == 0)
		r = collect_groups(n_records, runs, ret);
	if (r < 0)
		return r;
	ret->all = calloc(mark_rows(records, n_records, ret) + 1, sizeof *ret->all);
	if (!ret->all)
		return -ENOMEM;
	number_rows(runs, ret);
	return 0;
}
