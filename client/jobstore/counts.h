/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts with how many jobs a job shared a package, without reading the runs of other jobs. There
 * is a row for each package, and one for all jobs that may use every package. A row says how many
 * jobs are open now, and how many ever began. The jobs that a job met are those that were open when
 * it began, and those that began since.
 *
 * A process may die at any instruction. So a begin is counted before anything else is done, and
 * open jobs are counted again if a change was begun and not finished. A count may then be too high,
 * but never too low.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/jobstore/packages.h"

enum { COUNTS_ROWS_MAX = 40 };

struct counts_row {
	uint32_t package; /* unused in the first row */
	uint32_t n_open;
	uint64_t n_begun; /* never decreases */
};

/* A file. It fits into one page of memory, which one write(2) replaces as a whole. */
struct counts {
	char magic[8];
	uint64_t epoch; /* changes when the file is recreated without knowledge of older jobs */
	uint32_t is_changing; /* 1 without a process at work: the numbers of runs are wrong */
	uint32_t n_rows;
	uint32_t n_runs;  /* files of open jobs, and of ended jobs that are not written yet */
	uint32_t n_ended; /* those of n_runs that have ended */
	uint32_t n_aside; /* those of n_runs whose ID was begun again; they have ended */
	struct counts_row rows[COUNTS_ROWS_MAX];
};

/* The part of the counts that a job keeps from its begin. */
struct counts_base {
	uint64_t epoch;
	uint64_t rows[COUNTS_ROWS_MAX];
};

void counts_init(struct counts *ret, uint64_t epoch);
bool counts_are_valid(const struct counts *counts);

enum counts_event {
	COUNTS_BEGIN, /* all open jobs have met one more */
	COUNTS_OPEN,
	COUNTS_CLOSE,
};

/* Counts the event of a job that may use @packages. */
void counts_note(struct counts *counts, enum counts_event event, const struct packages *packages);

/* For the job of the last COUNTS_BEGIN, before its COUNTS_OPEN. */
void counts_base(const struct counts *counts, struct counts_base *ret);

/* How many jobs the job of @base has met on @package so far. -ENODATA: the file was recreated. */
int64_t counts_others(
	const struct counts *counts, const struct counts_base *base, uint32_t package);
