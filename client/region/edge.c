/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/edge.h"

enum { NOBODY = TABLE_MEMBERS_MAX };

/* NOBODY: the one that was it has left. */
static unsigned holder_of(const struct table *table, unsigned region)
{
	const uint64_t slot = LOAD(table->regions[region].holder) - 1;

	return slot < NOBODY && table_is_inside(table, (unsigned)slot, region) ? (unsigned)slot
									       : NOBODY;
}

bool edge_is_first(struct table *table, unsigned slot, unsigned region)
{
	if (holder_of(table, region) != NOBODY)
		return false;
	STORE(table->regions[region].holder, slot + 1);
	return true;
}

/* The search begins at the next slot, so that the role of the holder moves around. */
bool edge_is_last(struct table *table, unsigned slot, unsigned region)
{
	const unsigned n_slots = table_count_slots(table), holder = holder_of(table, region);

	if (holder != slot && holder != NOBODY)
		return false;
	for (unsigned i = 1; i < n_slots; i++) {
		const unsigned other = (slot + i) % n_slots;

		if (!table_is_inside(table, other, region))
			continue;
		STORE(table->regions[region].holder, other + 1);
		return false;
	}
	return true;
}
