/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds of memory, and the metrics in which its bytes should appear. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/command/validate/measure/shape.h"

enum { TIER_METRICS_MAX = 2 };

struct tier_metric {
	const char *name;
	enum shape wanted; /* what it should show */
};

struct tier {
	unsigned n; /* 0: no metric of this platform counts such memory */
	struct tier_metric metric[TIER_METRICS_MAX];
	bool can_be_a_node; /* a NUMA node without CPUs */
};

/* DRAM by reads and writes, DRAM by both together, then other memory; NULL past the last. */
const struct tier *tier_nth(size_t i);

/* Writes "dram.read and dram.write". */
enum { TIER_NAMES_BYTES = 64 };
void tier_names(const struct tier *tier, char ret[TIER_NAMES_BYTES]);

/* Is one of its metrics @name? */
bool tier_has(const struct tier *tier, const char *name);
