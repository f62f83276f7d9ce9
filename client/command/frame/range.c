/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/range.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void range_of(uint64_t values[], size_t n, struct range *ret)
{
	uint64_t low, high;

	qsort(values, n, sizeof *values, compare);
	low = values[(n - 1) / 2];
	high = values[n / 2];
	*ret = (struct range){
		.median = low + (high - low) / 2,
		.min = values[0],
		.max = values[n - 1],
	};
}
