/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/edge.h"

static bool is_held(const struct table *table, unsigned slot_and_1, unsigned region)
{
	return slot_and_1 && slot_and_1 <= TABLE_MEMBERS_MAX &&
	       table_is_inside(table, slot_and_1 - 1, region);
}

static unsigned holder_of(const struct table *table, unsigned region)
{
	return (unsigned)__atomic_load_n(&table->regions[region].holder, __ATOMIC_SEQ_CST);
}

static void edge_hold(struct table *table, unsigned slot, unsigned region)
{
	__atomic_store_n(&table->regions[region].holder, slot + 1, __ATOMIC_SEQ_CST);
}

bool edge_is_first(struct table *table, unsigned slot, unsigned region)
{
	if (is_held(table, holder_of(table, region), region))
		return false;
	edge_hold(table, slot, region);
	return true;
}

/* The search begins at the next slot, so that the role of the holder moves around. */
bool edge_is_last(struct table *table, unsigned slot, unsigned region)
{
	const unsigned n_slots = table_count_slots(table), holder = holder_of(table, region);

	if (holder != slot + 1 && is_held(table, holder, region))
		return false;
	for (unsigned i = 1; i < n_slots; i++) {
		const unsigned other = (slot + i) % n_slots;

		if (!table_is_inside(table, other, region))
			continue;
		edge_hold(table, other, region);
		return false;
	}
	return true;
}
