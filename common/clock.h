/* SPDX-License-Identifier: BSD-3-Clause */
/* The one clock of page and library: CLOCK_MONOTONIC in ns. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}
