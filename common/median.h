/* SPDX-License-Identifier: BSD-3-Clause */
/* The median of some numbers, which stays where it is if a few of them lie far off. */
#pragma once

#include <stdlib.h>

/* Compares two doubles, for qsort(3). */
static inline int median_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the @n >= 1 @values, and returns their median. */
static inline double median_of(double values[], size_t n)
{
	qsort(values, n, sizeof *values, median_compare);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}
