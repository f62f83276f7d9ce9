/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/cost.h"

void cost_add(struct table *table, unsigned slot, bool took_reading, uint64_t time_ns)
{
	struct table_slot *own = &table->slots[slot];
	struct table_cost *cost = took_reading ? &own->reading : &own->other;

	__atomic_fetch_add(&cost->n_calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&cost->time_ns, time_ns, __ATOMIC_RELAXED);
}
