/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The passages of one member through one region, in the member's own cell. A lock of the process
 * orders the member's threads; other processes read the cell without a lock.
 *
 * At each moment a thread is in one region, the innermost: it *runs* there. A thread that begins a
 * region inside another one stays inside the outer one, and runs in the inner one.
 */
#pragma once

#include "client/region/table.h"

/* A sequence lock of one writer: odd during a write. */
static inline void cell_lock(struct table_cell *cell)
{
	STORE(cell->lock, cell->lock + 1);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void cell_unlock(struct table_cell *cell)
{
	__atomic_store_n(&cell->lock, cell->lock + 1, __ATOMIC_RELEASE);
}

/* A thread comes in at @now_ns. It runs here from @runs_ns on, which is earlier if it took a
 * reading. */
void cell_begin(struct table_cell *cell, uint64_t now_ns, uint64_t runs_ns);

/* A thread leaves at @now_ns. It ran here until @ran_ns, which is later if it took a reading. */
void cell_end(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns, uint64_t ran_ns);

/* A thread ends inside, or all of them do: when they left is not known. */
void cell_abandon(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns);
uint32_t cell_abandon_all(struct table_cell *cell, uint64_t now_ns);

/* A thread inside begins another region, or is back from it: it does not run here, or does again.
 * Times as above. */
void cell_run(struct table_cell *cell, int change, uint64_t now_ns, uint64_t runs_ns);

/* Closes the passages of a member that died, after which it ran until @seen says. Returns how many
 * were open. */
uint32_t cell_bury(struct table_cell *cell, const struct table_seen *seen);

/* A passage was too deep to be followed. */
void cell_excess(struct table_cell *cell);

/* Makes a consistent copy. If the member died during a write, copies what is there. */
void cell_copy(struct table_cell *ret, const struct table_cell *cell);

/* How long threads ran in the region until @now_ns; a difference of two such values counts. */
static inline uint64_t cell_own_ns(const struct table_cell *cell, uint64_t now_ns)
{
	return cell->own_ns + cell->running * now_ns;
}
