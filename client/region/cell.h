/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a member counts of one region in its own cell. The threads of the member take turns by a
 * lock of the process; others read the cell without one.
 */
#pragma once

#include "client/region/table.h"

/* What a thread did with a region. */
void cell_begin(struct table_cell *cell, uint64_t now_ns);
void cell_begin_anew(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns);
void cell_end(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns);
void cell_abandon(struct table_cell *cell, uint64_t begun_ns);
void cell_abandon_all(struct table_cell *cell);

/* Of a member that died: closes its passages, and returns how many were open. */
uint32_t cell_bury(struct table_cell *cell);

void cell_fail(struct table_cell *cell);   /* a passage that begins or ends has no figures */
void cell_excess(struct table_cell *cell); /* a passage was too deep to be followed */
void cell_work(struct table_cell *cell, unsigned unit, double amount);

/* Passages that have ended. */
static inline uint64_t cell_count_ended(const struct table_cell *cell)
{
	return __atomic_load_n(&cell->n_ended, __ATOMIC_RELAXED);
}

/* A consistent copy; of a member that died while it wrote, what is there. */
void cell_copy(struct table_cell *ret, const struct table_cell *cell);
