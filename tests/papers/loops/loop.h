/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The 22 loops of the CloverLeaf paper's Table I, as kernels. They are the project's own: each
 * reads and writes as many arrays, and as many rows of each, as ../models/loops.csv says. What it
 * computes is a mean of what it reads. No line of CloverLeaf is in them.
 *
 * A grid of rows x columns cells lies in arrays with LOOP_MARGIN elements more each way, the halo
 * of five that the paper names, of which LOOP_BEFORE come before the first cell. Each loop exists
 * twice: "am00", and "am00nt", whose first stream of stores goes past the caches (the paper's
 * figure 7).
 */
#pragma once

#include "client/command/validate/kernels/kernel.h"

enum { LOOP_MARGIN = 5, LOOP_BEFORE = 2 };

struct loop {
	struct kernel
		kernel;     /* its arrays: those written, those only read, those of one dimension */
	unsigned broken;    /* elements read for a cell where no row stays in the cache */
	unsigned n_vectors; /* the last arrays: one row long */
};

/* The loops in the order of Table I, then those with non-temporal stores; NULL past the last. */
const struct loop *loop_nth(size_t i);

/* NULL: there is none of this name. */
const struct loop *loop_find(const char *name);

/* Where the arrays would begin if the grid began with its row @row. */
void loop_from_row(const struct loop *loop, const struct kernel_size *size, size_t row,
	double *const arrays[], double *ret_arrays[]);
