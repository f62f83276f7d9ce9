/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the sockets moved while no region of the team was open. Each time between two readings in
 * which nobody came into a region is one of three kinds:
 *
 * - a *call*: both readings are taken by one call, so the thread that calls moves nothing;
 * - a *gap*: from there to the next begin, in which the program does what it does in gaps;
 * - a *pause*: all others.
 *
 * A call shows what others move at all times, per second. A gap shows what else the program moves
 * in each gap. Pauses are put together to pieces: in a very short time a single transfer would look
 * like a high rate. The greatest rate of a piece bounds what others may have moved while
 * a region was alone.
 */
#pragma once

#include "client/region/reading.h"

/* Adds what moved since the last reading, if no region was open. Only the observer calls it
 * (observe.h). */
void outside_note(struct table *table, const struct reading *reading);

/* A time in which a region was alone, but not always open. */
struct outside_time {
	uint64_t time_ns;
	uint64_t n_gaps; /* of the region */
	uint64_t n_windows;
};

/*
 * The bytes that are usually moved in gaps of .time_ns together, and their standard error. NAN: not
 * known.
 */
double outside_usual(const struct table *table, uint32_t socket, uint32_t metric,
	struct outside_time gaps, double *ret_error);

/*
 * The most bytes that others, and the program in the gaps, may have moved in a time. NAN: not
 * known, because the time without an open region is too short.
 */
double outside_most(
	const struct table *table, uint32_t socket, uint32_t metric, struct outside_time time);
