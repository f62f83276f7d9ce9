/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a region's record, each by a single compare-and-swap of its word; see stretch.h. */
#pragma once

#include "client/region/member.h"
#include "client/region/reading.h"
#include "client/region/word.h"

/* A change of a region. */
struct step {
	unsigned holder;               /* after the change */
	const struct reading *reading; /* NULL: traffic since the last one is lost */
	enum { STEP_OPENS, STEP_ADDS, STEP_CLOSES } kind;
	bool is_idle;      /* after the change */
	bool begins;       /* a stretch begins after the reading */
	bool is_stale;     /* the window that ends says little */
	uint64_t until_ns; /* a gap that lasts counts until then; 0: it does not count */
};

/* The stretches of the region until its last reading. */
static inline uint64_t step_count_read(const struct table *table, unsigned record)
{
	return __atomic_load_n(&table->records[record].n_stretches, __ATOMIC_RELAXED);
}

/* Copies the region's present record. False: it has none, or another program keeps overwriting the
 * region's word. */
bool step_copy_record(const struct table *table, unsigned region, struct table_record *ret);

/*
 * Applies @step to @word. 1: done; 0: the word has changed meanwhile; -ENOSPC; -EBADF. *@ret_error
 * is the error of the sums, with its sentence; the step is done even then.
 */
int step_commit(struct member *member, unsigned region, const struct word *word,
	const struct step *step, int *ret_error);
