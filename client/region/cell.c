/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/cell.h"

#include "client/region/sequence.h"

/* --- writing --- */

/* Full barrier: after this write other members read .inside, and this thread reads what they wrote.
 * See stretch.h. */
static void count_inside_and_unlock(struct table_cell *cell, int change)
{
	SEQUENCE_ADD(cell->inside, (uint32_t)change);
	sequence_end(&cell->lock);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void cell_begin(struct table_cell *cell, uint64_t now_ns)
{
	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->begun_ns, now_ns);
	count_inside_and_unlock(cell, 1);
}

void cell_end(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns)
{
	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->begun_ns, -begun_ns);
	SEQUENCE_ADD(cell->time_ns, now_ns - begun_ns);
	SEQUENCE_ADD(cell->n_ended, 1);
	count_inside_and_unlock(cell, -1);
}

void cell_abandon(struct table_cell *cell, uint64_t begun_ns)
{
	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->begun_ns, -begun_ns);
	SEQUENCE_ADD(cell->n_abandoned, 1);
	count_inside_and_unlock(cell, -1);
}

void cell_abandon_all(struct table_cell *cell)
{
	const uint32_t n = cell->inside;

	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->begun_ns, -cell->begun_ns);
	SEQUENCE_ADD(cell->n_abandoned, n);
	count_inside_and_unlock(cell, -(int)n);
}

uint32_t cell_bury(struct table_cell *cell)
{
	const uint32_t n = __atomic_load_n(&cell->inside, __ATOMIC_RELAXED);

	if (!n && !(cell->lock & 1))
		return 0;
	cell->lock |= 1; /* the member may have died during a write */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&cell->begun_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&cell->inside, 0, __ATOMIC_RELAXED);
	sequence_end(&cell->lock);
	return n;
}

void cell_fail(struct table_cell *cell)
{
	SEQUENCE_ADD(cell->n_failed, 1);
}

void cell_excess(struct table_cell *cell)
{
	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->n_ended, 1);
	SEQUENCE_ADD(cell->n_failed, 1);
	sequence_end(&cell->lock);
}

void cell_work(struct table_cell *cell, unsigned unit, double amount)
{
	const double sum = cell->work[unit] + amount;

	__atomic_store(&cell->work[unit], &sum, __ATOMIC_RELAXED);
}

void cell_begin_anew(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns)
{
	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->begun_ns, now_ns - begun_ns);
	sequence_end(&cell->lock);
}

/* --- reading --- */

void cell_copy(struct table_cell *ret, const struct table_cell *cell)
{
	sequence_copy(ret, &cell->lock, sizeof *ret);
}
