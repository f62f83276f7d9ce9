/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows. A stretch that is hardly longer than a reading would cost the program more than it
 * tells. A region with such stretches is read in windows: a reading is taken at an edge of a
 * passage when it is due, and the time between two readings holds many stretches and the gaps
 * between them. What a window moved is exact; how much of it was moved in the gaps is estimated.
 *
 * Readings are due so seldom that they take at most a part of the wall time, UNCORE_OVERHEAD
 * percent. One reading in four is followed by another one at once, and by a third one at the next
 * edge: what moves in between tells what the gaps moved (outside.h).
 */
#pragma once

#include "client/region/state.h"

/* Is the region read in windows, because its stretches are short? */
bool window_is_used(const struct table *table, unsigned region);

/* Does any region have a window that goes on? */
bool window_is_any(const struct table *table);

/* Is a reading due at an edge of a region? True for only one member. */
bool window_is_due(struct table *table, uint64_t now_ns);

/* The same for a change of the class of a state: what each class moved is not known from anything
 * else. So all are read while the budget allows, later those that are due, and always the first and
 * the last one of a process. */
bool window_reads_class(struct table *table, const struct state_turn *turn);

/* Was the region left so long ago that the end of its last window says little about it? */
bool window_is_stale(const struct table *table, unsigned region, uint64_t now_ns);

/* After a reading at which no region was open: shall another one follow at once, and one at the
 * next edge? See outside.h. */
bool window_wants_pair(struct table *table);

/* The gap before the next stretch ends, before a reading at its begin. */
void window_end_gap(struct table *table, unsigned region, uint64_t now_ns);

/* The first member comes into the region, or the last one leaves it. */
void window_enter(struct table *table, unsigned region, uint64_t now_ns);
void window_leave(struct table *table, unsigned region, uint64_t now_ns);

/* As window_leave(), where the window goes on. */
void window_go_idle(struct table *table, unsigned region, uint64_t now_ns);

/* Adds the cost of a call that took a reading. */
void window_add_cost(struct table *table, uint64_t time_ns);

/* The state of a region: its stretches so far, and the gaps that have ended. */
struct window_state {
	uint64_t n_stretches, n_gaps, n_idle, gap_ns;
	bool is_open; /* as the region's word says */
};

/* @until_ns: the gap that lasts now counts until then; 0: it does not count. */
struct window_state window_look(const struct table *table, unsigned region, uint64_t until_ns);

/* A wish of UNCORE_OVERHEAD: this bit, and ten-thousandths of the wall time. */
#define WINDOW_WISHED (UINT32_C(1) << 31)

static inline uint32_t window_overhead(uint32_t wish)
{
	return wish & ~WINDOW_WISHED;
}
