/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/cell.h"

#include "common/bounds.h"

enum { TRIES = 1000 }; /* a write takes a few ns */

void cell_copy(struct table_cell *ret, const struct table_cell *cell)
{
	for (int i = 0; i < TRIES; i++) {
		const uint32_t before = __atomic_load_n(&cell->lock, __ATOMIC_ACQUIRE);

		table_copy(ret, cell, sizeof *ret);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && LOAD(cell->lock) == before)
			return;
	}
}

/* --- writing, between cell_lock() and cell_unlock() --- */

static inline void change_running(
	struct table_cell *cell, int change, uint64_t now_ns, uint64_t runs_ns)
{
	ADD(cell->running, (uint32_t)change);
	ADD(cell->own_ns, (uint64_t)-change * runs_ns);
	if (change < 0) /* a thread that takes a reading on its way out was called before others */
		STORE(cell->stopped_ns, most_of(cell->stopped_ns, now_ns));
}

static void cell_leave(struct table_cell *cell, uint32_t n)
{
	ADD(cell->inside, -n);
	ADD(cell->n_left, n);
}

void cell_begin(struct table_cell *cell, uint64_t now_ns, uint64_t runs_ns)
{
	cell_lock(cell);
	if (!cell->inside)
		STORE(cell->opened_ns, now_ns);
	ADD(cell->inside, 1);
	ADD(cell->begun_ns, now_ns);
	change_running(cell, 1, now_ns, runs_ns);
	cell_unlock(cell);
}

static void end(struct table_cell *cell, uint64_t begun_ns, uint64_t time_ns, uint64_t now_ns,
	uint64_t ran_ns)
{
	cell_lock(cell);
	ADD(cell->begun_ns, -begun_ns);
	ADD(cell->time_ns, time_ns);
	change_running(cell, -1, now_ns, ran_ns);
	cell_leave(cell, 1);
	cell_unlock(cell);
}

void cell_end(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns, uint64_t ran_ns)
{
	end(cell, begun_ns, now_ns - begun_ns, now_ns, ran_ns);
}

void cell_abandon(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns)
{
	end(cell, begun_ns, 0, now_ns, now_ns);
}

void cell_run(struct table_cell *cell, int change, uint64_t now_ns, uint64_t runs_ns)
{
	cell_lock(cell);
	change_running(cell, change, now_ns, runs_ns);
	cell_unlock(cell);
}

/* All passages end, when is not known. A member that died may have been writing. */
static uint32_t cell_close_all(struct table_cell *cell, uint64_t own_ns, uint64_t now_ns)
{
	const uint32_t n = LOAD(cell->inside);

	STORE(cell->lock, cell->lock | 1);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	STORE(cell->begun_ns, 0);
	STORE(cell->running, 0);
	STORE(cell->own_ns, own_ns);
	if (n)
		STORE(cell->stopped_ns, now_ns);
	cell_leave(cell, n);
	cell_unlock(cell);
	return n;
}

uint32_t cell_abandon_all(struct table_cell *cell, uint64_t now_ns)
{
	return cell_close_all(cell, cell_own_ns(cell, now_ns), now_ns);
}

uint32_t cell_bury(struct table_cell *cell, const struct table_seen *seen)
{
	if (!LOAD(cell->inside) && !cell->running && !(cell->lock & 1))
		return 0;
	return cell_close_all(cell, LOAD(seen->own_ns), cell->opened_ns);
}

void cell_excess(struct table_cell *cell)
{
	cell_lock(cell);
	ADD(cell->n_left, 1);
	cell_unlock(cell);
}
