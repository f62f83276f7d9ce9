/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When an edge of a passage takes a reading. Readings take at most a part of the wall time,
 * UNCORE_OVERHEAD percent, so they have a least gap; a longer passage is always read at both edges.
 * UNCORE_OVERHEAD=0: each edge takes one.
 */
#pragma once

#include "client/region/table.h"

/* Are passages of a region so long that a reading at each edge hardly matters? @usual_ns: of its
 * passages, as pace_learn() found it; @last_ns: the last one. */
bool pace_is_long(struct table *table, uint64_t usual_ns, uint64_t last_ns, uint64_t now_ns);

/* About the median of the passages; the first ones, some 30, are long. */
uint64_t pace_learn(uint64_t usual_ns, uint64_t passage_ns);

/* Did readings take more time than they may? */
bool pace_is_overspent(struct table *table, uint64_t now_ns);

/* Was the last reading so long ago that another one is due? True for only one member. Without a
 * limit one always is, and so is the first one of a table: until it succeeds, each edge says why
 * not. */
bool pace_is_due(struct table *table, uint64_t now_ns);

/* Adds the cost of a call that took a reading. */
void pace_add_cost(struct table *table, uint64_t time_ns);

/* A wish of UNCORE_OVERHEAD: this bit, and ten-thousandths of the wall time. */
#define PACE_WISHED (UINT32_C(1) << 31)

static inline uint32_t pace_overhead(uint32_t wish)
{
	return wish & ~PACE_WISHED;
}

/* --- what calls cost, for the report --- */

/* Each call that takes a reading is timed. The others are timed at one passage in 64 of a process
 * through a region, because reading the clock at each of them would make them a third slower: not
 * the first one, which finds cold caches. */
static inline bool cost_is_timed(uint64_t n_ended)
{
	return n_ended % 64 == 1;
}

static inline void cost_add(struct table_cost *cost, uint64_t time_ns)
{
	__atomic_fetch_add(&cost->n_calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cost->time_ns, time_ns, __ATOMIC_RELAXED);
}
