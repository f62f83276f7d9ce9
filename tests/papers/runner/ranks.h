/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks: threads that run a kernel side by side, each on arrays of its own. Between two steps all
 * of them wait, so that the counters are read while nothing moves.
 */
#pragma once

#include "tests/papers/loops/loop.h"
#include "tests/papers/runner/options.h"

struct ranks;

enum deed {
	DEED_RUN,
	DEED_READ,  /* options.flush_bytes that nothing writes */
	DEED_WRITE, /* options.dirty_bytes that no kernel uses */
};

/* What the ranks do in a step. */
struct step {
	enum deed deed;
	const struct kernel *kernel;
	const struct loop *loop; /* NULL: the kernel is none of the CloverLeaf paper's */
	size_t from_row, n_rows; /* of a loop */
	size_t n_passes;
};

/* Allocates arrays that are large enough for each of @kernels, up to NULL, and starts the threads.
 * Exits with a sentence if that fails. */
struct ranks *ranks_start(const struct options *options, const struct kernel *const kernels[]);

/* Returns when all ranks have done it. */
void ranks_do(struct ranks *ranks, const struct step *step);

/* What @kernel goes over in rank @rank. */
struct kernel_size ranks_size(
	const struct options *options, const struct kernel *kernel, size_t rank);

void ranks_done(struct ranks *ranks);
