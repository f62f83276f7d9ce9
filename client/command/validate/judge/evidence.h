/* SPDX-License-Identifier: BSD-3-Clause */
/* What a verdict rests on: what kernels of known traffic on one node moved, and what counters
 * showed. */
#pragma once

#include "client/command/validate/measure/tier.h"

enum { EVIDENCE_KERNELS_MAX = 8 };

struct evidence {
	const struct meter *meter;
	const struct place *place;
	uint32_t socket;       /* uncored's number of it */
	struct tier tier;      /* where the node's bytes should appear */
	bool has_memory_nodes; /* the machine has nodes without CPUs */
	/* Those whose traffic no CPU may change: load, update, and then others. */
	const struct measured *const *kernels;
	unsigned n_kernels; /* at most EVIDENCE_KERNELS_MAX */
};

/* What one metric of the tier shows on one socket. */
struct view {
	const char *metric;
	enum shape wanted;
	uint32_t series;
	struct shown shown;
};

/* All metrics of the tier. */
struct views {
	unsigned n;
	struct view view[TIER_METRICS_MAX];
};

/* What @series shows; METER_NONE shows nothing. */
struct shown evidence_show(const struct evidence *evidence, uint32_t series);

void evidence_views(const struct evidence *evidence, uint32_t socket, struct views *ret);

/* Do all metrics show nothing? */
bool views_are_empty(const struct views *views);

/* The largest scale that one of them shows. */
double views_scale(const struct views *views);
