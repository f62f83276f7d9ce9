/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of several runs without a mean's weakness: one bad run moves neither median nor the
 * end that it is not at. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t median, min, max;
};

/* @n >= 1 @values, which are sorted then. */
void range_of(uint64_t values[], size_t n, struct range *ret);
