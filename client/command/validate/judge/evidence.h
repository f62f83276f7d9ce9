/* SPDX-License-Identifier: BSD-3-Clause */
/* What a verdict rests on: what kernels of known traffic moved on one node, and what the counters
 * showed. */
#pragma once

#include "client/command/validate/measure/tier.h"

enum { EVIDENCE_KERNELS_MAX = 8 };

struct evidence {
	const struct probe *probe;
	const struct place *place;
	uint32_t socket;       /* uncored's number of it */
	struct tier tier;      /* where the node's bytes should appear */
	bool has_memory_nodes; /* the machine has nodes without CPUs */
	/* Kernels with traffic that no CPU changes: load, update, and then others. */
	const struct measured *const *kernels;
	unsigned n_kernels; /* at most EVIDENCE_KERNELS_MAX */
};

/* What one metric of the tier shows on one socket. */
struct metric_view {
	const char *metric;
	enum shape wanted;
	uint32_t series;
	struct shown shown;
};

/* All metrics of the tier. */
struct tier_view {
	unsigned n;
	struct metric_view view[TIER_METRICS_MAX];
};

/* What @series shows; PROBE_NONE shows nothing. */
struct shown evidence_show(const struct evidence *evidence, uint32_t series);

void evidence_views(const struct evidence *evidence, uint32_t socket, struct tier_view *ret);

/* Do all metrics show nothing? */
bool views_are_empty(const struct tier_view *views);

/* The largest scale that any of the metrics shows. */
double views_scale(const struct tier_view *views);
