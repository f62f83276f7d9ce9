/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/cell.h"

enum { TRIES_MOST = 1000 }; /* a write takes a few ns */

/* --- writing --- */

static void lock(struct table_cell *cell)
{
	__atomic_store_n(&cell->lock, cell->lock + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void unlock(struct table_cell *cell)
{
	__atomic_store_n(&cell->lock, cell->lock + 1, __ATOMIC_RELEASE);
}

#define ADD(field, amount) __atomic_store_n(&(field), (field) + (amount), __ATOMIC_RELAXED)

/* Others look at .inside, and this thread at what they wrote, right after it has changed: see
 * stretch.h. */
static void count_inside_and_unlock(struct table_cell *cell, int change)
{
	ADD(cell->inside, (uint32_t)change);
	unlock(cell);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void cell_begin(struct table_cell *cell, uint64_t now_ns)
{
	lock(cell);
	ADD(cell->begun_ns, now_ns);
	count_inside_and_unlock(cell, 1);
}

void cell_end(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns)
{
	lock(cell);
	ADD(cell->begun_ns, -begun_ns);
	ADD(cell->time_ns, now_ns - begun_ns);
	ADD(cell->n_ended, 1);
	count_inside_and_unlock(cell, -1);
}

void cell_abandon(struct table_cell *cell, uint64_t begun_ns)
{
	lock(cell);
	ADD(cell->begun_ns, -begun_ns);
	ADD(cell->n_abandoned, 1);
	count_inside_and_unlock(cell, -1);
}

void cell_abandon_all(struct table_cell *cell)
{
	const uint32_t n = cell->inside;

	lock(cell);
	ADD(cell->begun_ns, -cell->begun_ns);
	ADD(cell->n_abandoned, n);
	count_inside_and_unlock(cell, -(int)n);
}

uint32_t cell_bury(struct table_cell *cell)
{
	const uint32_t n = __atomic_load_n(&cell->inside, __ATOMIC_RELAXED);

	if (!n && !(cell->lock & 1))
		return 0;
	cell->lock |= 1; /* it may have died while it wrote */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&cell->begun_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&cell->inside, 0, __ATOMIC_RELAXED);
	unlock(cell);
	return n;
}

void cell_fail(struct table_cell *cell)
{
	ADD(cell->n_failed, 1);
}

void cell_excess(struct table_cell *cell)
{
	lock(cell);
	ADD(cell->n_ended, 1);
	ADD(cell->n_failed, 1);
	unlock(cell);
}

void cell_work(struct table_cell *cell, unsigned unit, double amount)
{
	const double sum = cell->work[unit] + amount;

	__atomic_store(&cell->work[unit], &sum, __ATOMIC_RELAXED);
}

void cell_begin_anew(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns)
{
	lock(cell);
	ADD(cell->begun_ns, now_ns - begun_ns);
	unlock(cell);
}

/* --- reading --- */

void cell_copy(struct table_cell *ret, const struct table_cell *cell)
{
	for (int i = 0; i < TRIES_MOST; i++) {
		uint32_t before = __atomic_load_n(&cell->lock, __ATOMIC_ACQUIRE);

		table_copy(ret, cell, sizeof *ret);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && __atomic_load_n(&cell->lock, __ATOMIC_RELAXED) == before)
			return;
	}
}
