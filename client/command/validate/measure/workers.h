/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that run a kernel, each bound to a CPU, on arrays of its own that lie on one NUMA node.
 * Between passes they sleep.
 */
#pragma once

#include <signal.h>

#include "client/command/validate/kernels/kernel.h"
#include "client/command/validate/measure/place.h"

struct workers;

struct workers_job {
	const struct kernel *kernel;
	const struct place *place;  /* of the threads */
	const struct place *memory; /* whose node has the arrays */
	hwloc_topology_t topology;
	unsigned n_threads; /* at most place->n_cpus */
	uint64_t number;    /* struct kernel_wish has these three */
	uint64_t halo;
	uint64_t cache_bytes;              /* of all threads together */
	const volatile sig_atomic_t *stop; /* not 0: the rest of the passes is left out */
	uint64_t most_bytes;               /* of all arrays together */
};

/*
 * Starts the threads, which allocate their arrays and write to all of them. 0; -ENOMEM: there is
 * not enough memory, or @job->most_bytes is less; -EXDEV: the kernel refuses to bind threads or
 * memory there; -EAGAIN: too many threads. *@ret_workers is the caller's, for workers_done().
 */
int workers_start(const struct workers_job *job, struct workers **ret_workers);

/* Makes each thread run @n passes; returns when all have. */
void workers_run(struct workers *workers, unsigned n);

/* What one pass of all threads moves. */
struct kernel_traffic workers_predict(const struct workers *workers);

/* Ends *@workers, if there are any. */
void workers_done(struct workers **workers);
