/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel of `uncore validate` in one thread, on arrays of its own, for programs of the tests. */
#pragma once

#include "client/command/validate/kernels/kernel.h"

struct kernel_run {
	const struct kernel *kernel;
	struct kernel_size size;
	double *arrays[KERNEL_ARRAYS_MAX];
};

/*
 * Makes the arrays for the kernel and this wish, and runs one pass. That leaves the caches as the
 * kernel leaves them, so what is thrown out of them when the next pass begins is as much as what
 * stays in them at its end. Ends the program if there is no such kernel or no memory: with status
 * 77 if this CPU cannot run it.
 */
void kernel_run_prepare(struct kernel_run *ret, const char *kernel, const struct kernel_wish *wish);

void kernel_run_passes(const struct kernel_run *run, uint64_t passes);
