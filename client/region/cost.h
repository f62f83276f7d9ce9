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

static inline void cost_add_to(struct table_cost *cost, uint64_t time_ns)
{
	__atomic_fetch_add(&cost->n_calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cost->time_ns, time_ns, __ATOMIC_RELAXED);
}

/* Adds a call of this member, which took @time_ns. */
static inline void cost_add(struct table *table, unsigned slot, bool took_reading, uint64_t time_ns)
{
	struct table_slot *own = &table->slots[slot];

	cost_add_to(took_reading ? &own->reading : &own->other, time_ns);
}
