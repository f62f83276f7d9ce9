/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that begin and end take, for the report. Each call that takes a reading is timed. The
 * other calls are timed at one passage in 64 of a process through a region: reading the clock at
 * each of them would make them a third slower.
 */
#pragma once

#include "client/region/table.h"

/* Is the passage after @n_ended others timed? Not the first one, because it finds cold caches. */
static inline bool cost_is_timed(uint64_t n_ended)
{
	return n_ended % 64 == 1;
}

/* Adds a call of this member, which took @time_ns. */
void cost_add(struct table *table, unsigned slot, bool took_reading, uint64_t time_ns);
