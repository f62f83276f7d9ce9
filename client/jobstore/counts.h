/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With how many jobs another one shared a package, without looking at any of them. A row for each
 * package, and one for all jobs that may use every package, says how many jobs are open now, and
 * how many ever began. The jobs that a job met are those that were open when it began, and those
 * that began since.
 *
 * A process may die at any instruction. So a begin is counted before anything else is done, and
 * how many are open is counted anew where a change was begun and not finished: a count may be too
 * high then, and never too low.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/jobstore/packages.h"

enum { COUNTS_ROWS_MAX = 40 };

struct counts_row {
	uint32_t package; /* of the first row: nothing */
	uint32_t n_open;
	uint64_t n_begun; /* never goes back */
};

/* A file begins with it, within one page of memory, which one write(2) replaces as a whole. */
struct counts {
	char magic[8];
	uint64_t epoch; /* another one: the file was made anew, and knows nothing of older jobs */
	uint32_t is_changing; /* numbers of runs are wrong if nobody is at work */
	uint32_t n_rows;
	uint32_t n_runs;  /* files: of open jobs, and of ended ones that wait for being written */
	uint32_t n_aside; /* of these, the ones whose ID was begun again */
	uint64_t n_written;
	struct counts_row rows[COUNTS_ROWS_MAX];
	uint32_t n_ended; /* of n_runs, those that have ended; older releases do not count them */
};

/* What a job keeps of the counts from its begin. */
struct counts_base {
	uint64_t epoch;
	uint64_t rows[COUNTS_ROWS_MAX];
};

void counts_init(struct counts *ret, uint64_t epoch);
bool counts_are_valid(const struct counts *counts);

/* All jobs that are open have met one more. */
void counts_note_begin(struct counts *counts, const struct packages *packages);

/* For the job that counts_note_begin() has noted, before counts_open(). */
void counts_base(const struct counts *counts, struct counts_base *ret);

void counts_open(struct counts *counts, const struct packages *packages);
void counts_close(struct counts *counts, const struct packages *packages);

/* How many jobs the one of @base has met on @package so far. -ENODATA: the file was made anew. */
int64_t counts_others(
	const struct counts *counts, const struct counts_base *base, uint32_t package);
