/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counts of one member for one region, in the member's own cell. A lock of the process orders
 * the member's threads; other processes read the cell without a lock.
 */
#pragma once

#include "client/region/state.h"
#include "client/region/table.h"

/* A thread enters or leaves the region, or ends inside it. */
void cell_begin(struct table_cell *cell, uint64_t now_ns);
void cell_begin_anew(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns);
void cell_end(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns);
void cell_abandon(struct table_cell *cell, uint64_t begun_ns);
void cell_abandon_all(struct table_cell *cell);

/* The member with these cells changes its state. True: the team's class has changed; see state.h.
 */
bool cell_turn(struct table_cell cells[], struct state_turn *turn);

/* Counts the members of a state anew, because some may have died. */
void cell_recount(struct table *table, struct state *state);

/* Closes the passages of a member that died, and returns how many were open. */
uint32_t cell_bury(struct table_cell *cell);

void cell_fail(struct table_cell *cell);   /* a passage that begins or ends has no figures */
void cell_excess(struct table_cell *cell); /* a passage was too deep to be followed */
void cell_work(struct table_cell *cell, unsigned unit, double amount);

/* The number of passages that have ended. */
static inline uint64_t cell_count_ended(const struct table_cell *cell)
{
	return __atomic_load_n(&cell->n_ended, __ATOMIC_RELAXED);
}

/* Makes a consistent copy. If the member died during a write, copies what is there. */
void cell_copy(struct table_cell *ret, const struct table_cell *cell);

/*
 * Nested regions. At each moment a thread is in one region, the innermost. The own time of a region
 * is the time that the member's threads spent in it less the time in regions that they began inside
 * it. Regions without a column in the estimate have no nest.
 */

/* A thread inside @region begins or ends another region. */
void nest_begin(struct table *table, unsigned slot, unsigned region, uint64_t now_ns);
void nest_end(
	struct table *table, unsigned slot, unsigned region, uint64_t begun_ns, uint64_t now_ns);

/* The slot has a new owner, so no thread is inside any more. */
void nest_bury(struct table *table, unsigned slot);

/* The own time of the region until @now_ns, over the threads of this member. */
uint64_t nest_own_ns(const struct table *table, unsigned slot, unsigned region, uint64_t now_ns);
