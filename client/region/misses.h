/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program's own threads miss in the last-level cache, by region, if UNCORE_MISSES asks for
 * it. The bytes of a region are all that its sockets moved; these are the team's own.
 *
 * Each thread that begins a region opens one event of its own (perf_event_open(2)), and reads it
 * whenever it goes into a region or out of one. What it has counted since goes to the region that
 * was its innermost: so it counts for one region at a time, and not what the library does between.
 * The event is read in user space where the kernel allows it, and else by read(2).
 *
 * A thread that cannot count says why in the table, once for all. A region has a count if all of
 * its passages that ended were counted: .n_counted of struct table_region is not less than their
 * number then. Spans are not: they may end in another thread.
 */
#pragma once

#include "client/region/passage.h"

/* As passage_cross(), for a process that wants misses. */
int misses_cross(
	struct regions *regions, struct passage *passage, struct region *next, uint64_t now_ns);

/* The calling thread ends, inside of a region or of none (NULL); also without misses. */
void misses_end_thread(const struct regions *regions, const struct region *inside);
