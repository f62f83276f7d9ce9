/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/nest.h"

#include "client/region/cell.h"

enum { TRIES_MOST = 1000 }; /* a write takes a few ns */

#define ADD(field, amount) __atomic_store_n(&(field), (field) + (amount), __ATOMIC_RELAXED)

static void change(struct table_nest *nest, int inside, uint64_t begun_ns, uint64_t time_ns)
{
	ADD(nest->lock, 1);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	ADD(nest->inside, (uint32_t)inside);
	ADD(nest->begun_ns, begun_ns);
	ADD(nest->time_ns, time_ns);
	__atomic_store_n(&nest->lock, nest->lock + 1, __ATOMIC_RELEASE);
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

static struct table_nest copy(const struct table_nest *nest)
{
	struct table_nest found = { .lock = 0 };

	for (int i = 0; i < TRIES_MOST; i++) {
		const uint32_t before = __atomic_load_n(&nest->lock, __ATOMIC_ACQUIRE);

		table_copy(&found, nest, sizeof found);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && __atomic_load_n(&nest->lock, __ATOMIC_RELAXED) == before)
			break;
	}
	return found;
}

/* A passage that began after @now_ns has no time yet. Of a member that died or left, only what had
 * ended is known. */
uint64_t nest_own_ns(const struct table *table, unsigned slot, unsigned region, uint64_t now_ns)
{
	const struct table_nest nest = copy(&table->nests[slot][region]);
	uint64_t inside_ns, nested_ns;
	struct table_cell cell = { .lock = 0 };

	cell_copy(&cell, &table->cells[slot][region]);
	inside_ns = cell.time_ns;
	nested_ns = nest.time_ns;
	if (table_phase(table, slot) == TABLE_JOINED) {
		inside_ns += cell.inside * now_ns - cell.begun_ns;
		nested_ns += nest.inside * now_ns - nest.begun_ns;
	}
	return inside_ns - nested_ns;
}
