/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of memory, and the metrics in which its bytes should appear. */
#pragma once

#include <stddef.h>

struct tier {
	const char *read, *write; /* NULL: no metric of this platform counts such memory */
};

/* DRAM, then memory that can be a NUMA node without CPUs; NULL past the last. */
const struct tier *tier_nth(size_t i);
