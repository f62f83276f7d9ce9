/* SPDX-License-Identifier: BSD-3-Clause */
/* Median and both ends of the counts of several runs. A bad run moves a mean, but it moves only one
 * of the ends, and not the median. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t median, min, max;
};

/* Of @n >= 1 @values, which it sorts. */
void range_of(uint64_t values[], size_t n, struct range *ret);
