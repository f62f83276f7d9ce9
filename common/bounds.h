/* SPDX-License-Identifier: BSD-3-Clause */
/* The larger and the smaller one of two numbers; of two times, the later and the earlier one. */
#pragma once

#include <stdint.h>

static inline uint64_t most_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}
