/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobstore/counts.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { ROW_OF_ALL = 0 };

static const char MAGIC[8] = "uncnts2";

static_assert(sizeof(struct counts) <= 4096, "one page");

void counts_init(struct counts *ret, uint64_t epoch)
{
	*ret = (struct counts){ .epoch = epoch, .n_rows = 1 };
	memcpy(ret->magic, MAGIC, sizeof MAGIC);
}

bool counts_are_valid(const struct counts *counts)
{
	return memcmp(counts->magic, MAGIC, sizeof MAGIC) == 0 && counts->n_rows >= 1 &&
	       counts->n_rows <= COUNTS_ROWS_MAX;
}

/* The row of @package; NULL: it has none. */
static const struct counts_row *find(const struct counts *counts, uint32_t package)
{
	for (uint32_t i = ROW_OF_ALL + 1; i < counts->n_rows; i++)
		if (counts->rows[i].package == package)
			return &counts->rows[i];
	return NULL;
}

/* Makes the rows of @packages. False: the job counts in the row of all packages, because it may use
 * all, or because there is no room. */
static bool make_rows(struct counts *counts, const struct packages *packages)
{
	for (uint32_t i = 0; i < packages->n; i++) {
		if (find(counts, packages->ids[i]))
			continue;
		if (counts->n_rows >= COUNTS_ROWS_MAX)
			return false;
		counts->rows[counts->n_rows++] = (struct counts_row){ .package = packages->ids[i] };
	}
	return packages->n > 0;
}

/* Does a job of these packages count in row @i? */
static bool is_of(
	const struct counts *counts, uint32_t i, const struct packages *packages, bool has_rows)
{
	if (!has_rows || i == ROW_OF_ALL)
		return !has_rows && i == ROW_OF_ALL;
	return packages_have(packages, counts->rows[i].package);
}

void counts_note(struct counts *counts, enum counts_event event, const struct packages *packages)
{
	bool has_rows = make_rows(counts, packages);

	for (uint32_t i = 0; i < counts->n_rows; i++) {
		struct counts_row *row = &counts->rows[i];

		if (!is_of(counts, i, packages, has_rows))
			continue;
		row->n_begun += event == COUNTS_BEGIN;
		row->n_open += event == COUNTS_OPEN;
		row->n_open -= event == COUNTS_CLOSE && row->n_open;
	}
}

void counts_base(const struct counts *counts, struct counts_base *ret)
{
	*ret = (struct counts_base){ .epoch = counts->epoch };
	for (uint32_t i = 0; i < counts->n_rows; i++)
		ret->rows[i] = counts->rows[i].n_begun - counts->rows[i].n_open;
}

int64_t counts_others(const struct counts *counts, const struct counts_base *base, uint32_t package)
{
	const struct counts_row *row = find(counts, package);
	uint64_t n = counts->rows[ROW_OF_ALL].n_begun - base->rows[ROW_OF_ALL];

	if (counts->epoch != base->epoch)
		return -ENODATA;
	if (row)
		n += row->n_begun - base->rows[row - counts->rows];
	return (int64_t)n;
}
