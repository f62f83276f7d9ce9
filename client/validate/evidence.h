/* SPDX-License-Identifier: BSD-3-Clause */
/* What a verdict rests on: what kernels of known traffic on one node moved, and what counters
 * showed. */
#pragma once

#include "client/validate/shape.h"

enum { EVIDENCE_KERNELS_MAX = 8 };

struct evidence {
	const struct meter *meter;
	const struct place *place;
	uint32_t socket;                        /* uncored's number of it */
	const char *read_metric, *write_metric; /* where the node's bytes should appear */
	bool has_memory_nodes;                  /* the machine has nodes without CPUs */
	/* Those whose traffic no CPU may change: load, update, and then others. */
	const struct measured *const *kernels;
	unsigned n_kernels; /* at most EVIDENCE_KERNELS_MAX */
};

/* The two metrics of the node's memory on one socket. */
struct pair_shown {
	uint32_t read_series, write_series;
	struct shown read, write;
};

/* What @series shows; METER_NONE shows nothing. */
struct shown evidence_show(const struct evidence *evidence, uint32_t series);

struct pair_shown evidence_pair(const struct evidence *evidence, uint32_t socket);

/* Do both metrics show nothing? */
bool evidence_is_empty(const struct pair_shown *pair);
