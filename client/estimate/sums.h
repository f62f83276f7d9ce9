/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layout of the sums of the normal equations, in blocks of time. All numbers of a block are
 * doubles, so two blocks are merged by adding their numbers.
 */
#pragma once

#include "client/estimate/estimate.h"

enum {
	SUMS_COLUMNS = ESTIMATE_COLUMNS,
	SUMS_GRAM = SUMS_COLUMNS * (SUMS_COLUMNS + 1) / 2, /* the upper triangle */
	SUMS_MERGING = ESTIMATE_BLOCKS + 1,
};

/*
 * One metric on one socket. The crowd is an additional column, which tests whether rates add up:
 * the square of the load (threads, each with the load of its region) less its mean so far, times
 * dt.
 */
struct sums_series {
	double begun_s; /* as dt_s, but written first */
	double bytes;
	double squares; /* weighted, as all below but crowd_s */
	double products[SUMS_COLUMNS];
	double crowd_s;                 /* the square of the load x dt */
	double crowd[SUMS_COLUMNS + 1]; /* its products with all columns, and its square */
	double crowd_product;           /* with the bytes */
	double dt_s;                    /* of intervals with a value; written last */
};

/*
 * A writer that was stopped may go on after another has taken its place. The numbers that are
 * written first and last then differ, and the block is not used.
 */
struct sums_block {
	double begun_s; /* as dt_s, but written first */
	double time_s[SUMS_COLUMNS];
	double gram[SUMS_GRAM];
	double rows;
	double dt_s; /* written last */
	struct sums_series series[];
};

struct sums_header {
	uint32_t busy; /* 0; 1 + the block that is being written; SUMS_MERGING */
	uint32_t current;
	uint32_t n_threads_least; /* 0: no row yet */
	uint32_t n_threads_most;
	double block_s; /* length of a block; 0: no row yet */
	uint64_t rows;
	uint64_t lost; /* rows that were lost because a writer died */
};

/* Load of a thread in each region and outside, and the mean square of their sum; 0: not known. */
struct sums_loads {
	double loads[ESTIMATE_WALL];
	double square;
};

struct sums_header *sums_header(const struct estimate *estimate);

struct sums_loads *sums_loads(const struct estimate *estimate, uint32_t series);

/* SUMS_GRAM numbers that only loads_learn() uses. */
double *sums_scratch(const struct estimate *estimate);

size_t sums_block_bytes(const struct estimate *estimate);

/* @index is below ESTIMATE_BLOCKS. */
struct sums_block *sums_block(const struct estimate *estimate, uint32_t index);

/* The place of the product of columns @a and @b in the triangle. */
static inline uint32_t sums_at(uint32_t a, uint32_t b)
{
	uint32_t low = a < b ? a : b, high = a < b ? b : a;

	return high * (high + 1) / 2 + low;
}

/* Is the column a time of threads, which follow each other? */
static inline bool sums_is_time(uint32_t column)
{
	return column < ESTIMATE_REGIONS_MAX || column == ESTIMATE_OUTSIDE;
}

/* Computes the loads from all blocks so far. */
void loads_learn(const struct estimate *estimate);
