/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/workers.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "common/macro.h"

enum { PAGE_BYTES = 4096, SKEW_STEP = 9, SKEWS = 16 /* offsets in a page, by KERNEL_ALIGNMENT */ };

struct worker {
	struct workers *workers;
	pthread_t thread;
	unsigned cpu;
	sem_t go; /* a round begins */
	char *memory;
	double *arrays[KERNEL_ARRAYS_MAX];
	int error;
};

struct workers {
	struct workers_job job;
	struct kernel_size size; /* of each thread */
	size_t thread_bytes;
	unsigned n_passes; /* of this round, before its .go; 0: end */
	sem_t done;        /* a thread has finished its round, or is ready for the first one */
	unsigned n;
	struct worker worker[];
};

/* --- memory --- */

/*
 * Where array @i begins, after the earlier ones. Arrays with the same offset in a page would fall
 * into the same sets of a cache, so each has another offset.
 */
static size_t array_offset(const struct workers *workers, unsigned i)
{
	size_t offset = 0;

	for (unsigned k = 0; k <= i; k++) {
		offset = (offset + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
		offset += (k * SKEW_STEP + 3) % SKEWS * KERNEL_ALIGNMENT;
		if (k < i)
			offset += workers->job.kernel->elements(&workers->size, k) * sizeof(double);
	}
	return offset;
}

static size_t bytes_of_thread(const struct workers *workers)
{
	unsigned last = workers->job.kernel->n_arrays - 1;
	size_t end = array_offset(workers, last) +
		     workers->job.kernel->elements(&workers->size, last) * sizeof(double);

	return (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/*
 * Binds @memory, and moves pages that are there already. A huge page of a neighbour, such as
 * another thread's stack, may reach into @memory, and that page lies where the stack was touched
 * first.
 */
static bool bind_area(hwloc_topology_t topology, unsigned node, void *memory, size_t bytes)
{
	hwloc_obj_t object = hwloc_get_numanode_obj_by_os_index(topology, node);

	return object &&
	       hwloc_set_area_membind(topology, memory, bytes, object->nodeset, HWLOC_MEMBIND_BIND,
		       HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT | HWLOC_MEMBIND_MIGRATE) == 0;
}

/* NULL, and errno, if there is no such memory. */
static void *allocate_on(hwloc_topology_t topology, unsigned node, size_t bytes)
{
	void *memory = hwloc_alloc(topology, bytes);
	int error;

	/* With a single node, nothing is bound: a Linux without NUMA could not do it. */
	if (!memory || hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) == 1 ||
		bind_area(topology, node, memory, bytes))
		return memory;
	error = errno;
	hwloc_free(topology, memory, bytes);
	errno = error;
	return NULL;
}

static int worker_allocate(struct worker *worker)
{
	const struct workers *workers = worker->workers;

	errno = 0;
	worker->memory = allocate_on(
		workers->job.topology, workers->job.memory->node, workers->thread_bytes);
	if (!worker->memory)
		return errno == ENOMEM ? -ENOMEM : -EXDEV;
	/* Huge pages need fewer page walks. Linux may refuse them. */
	madvise(worker->memory, workers->thread_bytes, MADV_HUGEPAGE);
	return 0;
}

/* Writes the arrays, so that their pages are on the bound node before anything is counted. */
static void settle_arrays(struct worker *worker)
{
	const struct workers *workers = worker->workers;

	for (unsigned i = 0; i < workers->job.kernel->n_arrays; i++) {
		size_t n = workers->job.kernel->elements(&workers->size, i);

		worker->arrays[i] = (void *)(worker->memory + array_offset(workers, i));
		for (size_t k = 0; k < n; k++)
			worker->arrays[i][k] = 1.0 + (double)(k % 7);
	}
}

/* --- threads --- */

static int bind_to_cpu(const struct worker *worker)
{
	hwloc_topology_t topology = worker->workers->job.topology;
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, worker->cpu);

	return pu && hwloc_set_cpubind(
			     topology, pu->cpuset, HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT) == 0
		       ? 0
		       : -EXDEV;
}

static void await(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0) /* a signal came */
		;
}

static void await_all(struct workers *workers)
{
	for (unsigned i = 0; i < workers->n; i++)
		await(&workers->done);
}

static void *worker_run(void *argument)
{
	struct worker *worker = argument;
	struct workers *workers = worker->workers;

	worker->error = bind_to_cpu(worker);
	if (!worker->error)
		worker->error = worker_allocate(worker);
	if (!worker->error)
		settle_arrays(worker);
	sem_post(&workers->done);
	for (;;) {
		await(&worker->go);
		if (!workers->n_passes)
			return NULL;
		for (unsigned n = workers->n_passes; n && !worker->error && !*workers->job.stop;
			n--)
			workers->job.kernel->run(worker->arrays, &workers->size);
		sem_post(&workers->done);
	}
}

static void begin_round(struct workers *workers, unsigned n_passes)
{
	workers->n_passes = n_passes;
	for (unsigned i = 0; i < workers->n; i++)
		sem_post(&workers->worker[i].go);
}

void workers_run(struct workers *workers, unsigned n)
{
	begin_round(workers, n);
	await_all(workers);
}

/* --- all together --- */

static struct workers *workers_new(const struct workers_job *job)
{
	struct workers *workers =
		calloc(1, sizeof *workers + job->n_threads * sizeof(struct worker));
	struct kernel_wish wish = { job->number, job->halo, job->cache_bytes / job->n_threads };

	if (!workers)
		return NULL;
	workers->job = *job;
	sem_init(&workers->done, 0, 0);
	job->kernel->choose(&wish, &workers->size);
	workers->thread_bytes = bytes_of_thread(workers);
	return workers;
}

static int start_threads(struct workers *workers)
{
	int r = 0;

	for (; workers->n < workers->job.n_threads; workers->n++) {
		struct worker *worker = &workers->worker[workers->n];

		worker->workers = workers;
		worker->cpu = workers->job.place->cpus[workers->n];
		sem_init(&worker->go, 0, 0);
		r = pthread_create(&worker->thread, NULL, worker_run, worker);
		if (r)
			break;
	}
	return -r;
}

int workers_start(const struct workers_job *job, struct workers **ret_workers)
{
	_cleanup_(workers_done) struct workers *workers = workers_new(job);
	int r;

	if (!workers || (uint64_t)workers->thread_bytes * job->n_threads > job->most_bytes)
		return -ENOMEM;
	r = start_threads(workers);
	await_all(workers);
	for (unsigned i = 0; i < workers->n && !r; i++)
		r = workers->worker[i].error;
	if (r < 0)
		return r;
	*ret_workers = take_ptr(workers);
	return 0;
}

struct kernel_traffic workers_predict(const struct workers *workers)
{
	const struct workers_job *job = &workers->job;
	struct kernel_traffic traffic = job->kernel->predict(
		job->kernel, &workers->size, job->cache_bytes / job->n_threads);

	traffic.read *= job->n_threads;
	traffic.allocated *= job->n_threads;
	traffic.written *= job->n_threads;
	return traffic;
}

void workers_done(struct workers **all)
{
	struct workers *workers = *all;

	if (!workers)
		return;
	begin_round(workers, 0);
	for (unsigned i = 0; i < workers->n; i++) {
		pthread_join(workers->worker[i].thread, NULL);
		if (workers->worker[i].memory)
			hwloc_free(workers->job.topology, workers->worker[i].memory,
				workers->thread_bytes);
	}
	free(workers);
}
