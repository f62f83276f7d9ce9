/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/nest.h"

#include "client/region/cell.h"
#include "client/region/sequence.h"

static void change(struct table_nest *nest, int inside, uint64_t begun_ns, uint64_t time_ns)
{
	sequence_begin(&nest->lock);
	SEQUENCE_ADD(nest->inside, (uint32_t)inside);
	SEQUENCE_ADD(nest->begun_ns, begun_ns);
	SEQUENCE_ADD(nest->time_ns, time_ns);
	sequence_end(&nest->lock);
}

void nest_begin(struct table *table, unsigned slot, unsigned region, uint64_t now_ns)
{
	if (region < ESTIMATE_REGIONS_MAX)
		change(&table->nests[slot][region], 1, now_ns, 0);
}

void nest_end(
	struct table *table, unsigned slot, unsigned region, uint64_t begun_ns, uint64_t now_ns)
{
	if (region < ESTIMATE_REGIONS_MAX)
		change(&table->nests[slot][region], -1, -begun_ns, now_ns - begun_ns);
}

void nest_bury(struct table *table, unsigned slot)
{
	for (unsigned i = 0; i < ESTIMATE_REGIONS_MAX; i++) {
		struct table_nest *nest = &table->nests[slot][i];

		__atomic_store_n(&nest->lock, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&nest->inside, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&nest->begun_ns, 0, __ATOMIC_RELAXED);
	}
}

/* A passage that began after @now_ns has no time yet. For a member that died or left, only ended
 * passages count. */
uint64_t nest_own_ns(const struct table *table, unsigned slot, unsigned region, uint64_t now_ns)
{
	struct table_nest nest = { .lock = 0 };
	struct table_cell cell = { .lock = 0 };
	uint64_t inside_ns, nested_ns;

	sequence_copy(&nest, &table->nests[slot][region].lock, sizeof nest);
	cell_copy(&cell, &table->cells[slot][region]);
	inside_ns = cell.time_ns;
	nested_ns = nest.time_ns;
	if (table_phase(table, slot) == TABLE_JOINED) {
		inside_ns += cell.inside * now_ns - cell.begun_ns;
		nested_ns += nest.inside * now_ns - nest.begun_ns;
	}
	return inside_ns - nested_ns;
}
