/* SPDX-License-Identifier: BSD-3-Clause */
/* What a loop says of one cell: means of the elements around it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#if defined __x86_64__
#include <emmintrin.h>
#define CELL_NONTEMPORAL_ABSENT NULL
#else
#define CELL_NONTEMPORAL_ABSENT                                                                    \
	"This CPU has no store of which it is known that it goes past the caches."
#endif

struct cell {
	double *const *arrays;
	size_t at;     /* its index in the arrays of the grid */
	size_t step;   /* elements from a row to the next */
	size_t column; /* its index in arrays of one dimension */
	bool past;     /* the first array is written past the caches; known when compiling */
};

/* The element of this cell. */
static inline double here(struct cell c, unsigned array)
{
	return c.arrays[array][c.at];
}

/* Two columns of one row. */
static inline double columns2(struct cell c, unsigned array)
{
	const double *at = c.arrays[array] + c.at;

	return .5 * (at[0] + at[1]);
}

static inline double columns3(struct cell c, unsigned array)
{
	const double *at = c.arrays[array] + c.at;

	return 1. / 3 * (at[-1] + at[0] + at[1]);
}

/* Two rows: this one and the next. */
static inline double rows2(struct cell c, unsigned array)
{
	const double *at = c.arrays[array] + c.at;

	return .5 * (at[0] + at[c.step]);
}

static inline double rows3(struct cell c, unsigned array)
{
	const double *at = c.arrays[array] + c.at;

	return 1. / 3 * (at[-c.step] + at[0] + at[c.step]);
}

/* Two rows, two columns of each. */
static inline double square(struct cell c, unsigned array)
{
	const double *at = c.arrays[array] + c.at;

	return .25 * (at[0] + at[1] + at[c.step] + at[c.step + 1]);
}

/* An array of one dimension along the row. */
static inline double along(struct cell c, unsigned array)
{
	return c.arrays[array][c.column];
}

/* Writes the mean of @n values, of which @sum is the sum, to an array that the loop also reads. */
static inline void update(struct cell c, unsigned array, unsigned n, double sum)
{
	c.arrays[array][c.at] = 1. / n * sum;
}

/* The same to an array that the loop only writes. */
static inline void set(struct cell c, unsigned array, unsigned n, double sum)
{
#if defined __x86_64__
	if (c.past && array == 0) {
		_mm_stream_si64((long long *)c.arrays[array] + c.at,
			_mm_cvtsi128_si64(_mm_castpd_si128(_mm_set_sd(1. / n * sum))));
		return;
	}
#endif
	update(c, array, n, sum);
}
