/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/record/join-rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void rows_done(struct rows *rows)
{
	free(rows->names);
	free(rows->groups);
	free(rows->at);
}

/* Nodes mostly have the same regions in the same order, so the search begins at @hint. Where there
 * is none of this name: the number of names. */
static uint32_t find_name(const struct rows *rows, const char *name, uint32_t hint)
{
	for (uint32_t i = 0; i < rows->n_names; i++) {
		uint32_t at = (hint % rows->n_names + i) % rows->n_names;

		if (strcmp(rows->names[at], name) == 0)
			return at;
	}
	return rows->n_names;
}

static uint32_t *place_of(const struct rows *rows, uint32_t name, uint32_t group)
{
	return &rows->at[(size_t)name * rows->n_groups + group];
}

uint32_t rows_find(const struct join *join, const struct rows *rows, uint32_t record, uint32_t i)
{
	const uint32_t name = find_name(rows, join->records[record].regions[i].name, i);

	return *place_of(rows, name, rows->groups[record]) - 1;
}

/* In the order of the first node that has them. */
static int collect_names(const struct join *join, struct rows *rows)
{
	size_t n_most = 1;

	for (uint32_t i = 0; i < join->n_records; i++)
		n_most += join->records[i].n_regions;
	rows->names = calloc(n_most, sizeof *rows->names);
	if (!rows->names)
		return -ENOMEM;
	for (uint32_t i = 0; i < join->n_records; i++)
		for (uint32_t k = 0; k < join->records[i].n_regions; k++) {
			const char *name = join->records[i].regions[k].name;
			const uint32_t at = find_name(rows, name, k);

			rows->names[at] = name;
			rows->n_names += at == rows->n_names;
		}
	return 0;
}

static int collect_groups(struct join *join, struct rows *rows)
{
	rows->n_groups = join->runs.n_runs;
	rows->groups = calloc(join->n_records, sizeof *rows->groups);
	if (!rows->groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < join->n_records; i++)
		rows->groups[i] =
			join->runs.of[i] == RUNS_APART ? rows->n_groups++ : join->runs.of[i];
	join->n_apart = rows->n_groups - join->runs.n_runs;
	rows->at = calloc((size_t)rows->n_names * rows->n_groups + 1, sizeof *rows->at);
	return rows->at ? 0 : -ENOMEM;
}

/* Marks which there are. Returns how many. */
static size_t mark_rows(const struct join *join, const struct rows *rows)
{
	size_t n = 0;

	for (uint32_t i = 0; i < join->n_records; i++)
		for (uint32_t k = 0; k < join->records[i].n_regions; k++) {
			const uint32_t name = find_name(rows, join->records[i].regions[k].name, k);
			uint32_t *at = place_of(rows, name, rows->groups[i]);

			n += !*at;
			*at = 1;
		}
	return n;
}

/* Name by name: first the runs, then the records that are in none. */
static int number_rows(struct join *join, const struct rows *rows)
{
	const size_t n = mark_rows(join, rows);

	join->total.regions = calloc(n + 1, sizeof *join->total.regions);
	join->regions = calloc(n + 1, sizeof *join->regions);
	if (!join->total.regions || !join->regions)
		return -ENOMEM;
	for (uint32_t i = 0; i < rows->n_names; i++)
		for (uint32_t group = 0; group < rows->n_groups; group++) {
			struct record_region *region = &join->total.regions[join->total.n_regions];

			if (!*place_of(rows, i, group))
				continue;
			*place_of(rows, i, group) = ++join->total.n_regions;
			strcpy(region->name, rows->names[i]);
			if (join->runs.n_runs > 1 && group < join->runs.n_runs)
				region->run = group + 1;
		}
	return 0;
}

/* How many sockets and parts. */
static void count_rows(struct join *join, const struct rows *rows)
{
	for (uint32_t i = 0; i < join->n_records; i++)
		for (uint32_t k = 0; k < join->records[i].n_regions; k++) {
			const struct record_region *region = &join->records[i].regions[k];
			const uint32_t at = rows_find(join, rows, i, k);

			join->total.regions[at].n_sockets += region->n_sockets;
			if (join->runs.of[i] == RUNS_APART)
				join->total.regions[at].node = i + 1;
			join->regions[at].has_estimates |= region->estimates != NULL;
			join->regions[at].n_parts++;
		}
}

int rows_collect(struct join *join, struct rows *rows)
{
	int r = collect_names(join, rows);

	if (r == 0)
		r = collect_groups(join, rows);
	if (r == 0)
		r = number_rows(join, rows);
	if (r == 0)
		count_rows(join, rows);
	return r;
}
