/* SPDX-License-Identifier: BSD-3-Clause */
/* How the nodes of a region differ: percentiles, and the nodes with the most. */
#pragma once

#include "client/records/join.h"

enum {
	SPREAD_LEAST_NODES = 10, /* with fewer, a table of all nodes says more */
	SPREAD_WORST = 10,
	SPREAD_ALL = UINT32_MAX, /* instead of a metric: all memory */
};

enum spread_rank { SPREAD_LEAST, SPREAD_5, SPREAD_MEDIAN, SPREAD_95, SPREAD_MOST, SPREAD_RANKS };

struct spread {
	double ranks[SPREAD_RANKS];
	uint32_t n_worst;
	struct spread_node {
		double count;
		uint32_t part;
	} worst[SPREAD_WORST]; /* the largest first */
};

/* False: a node has no figure, or there is no memory. */
bool spread_of(const struct join *join, uint32_t region, uint32_t metric, struct spread *ret);

/* What a part counted of all memory, or of its metrics with @kind in their names; NAN: nothing is
 * known. */
double spread_sum(const struct join *join, uint32_t region, uint32_t part, const char *kind);

/* Tables for people, of regions with at least SPREAD_LEAST_NODES nodes. */
void spread_print(FILE *out, const struct join *join);
