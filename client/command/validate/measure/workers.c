/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "common/macro.h"

enum { PAGE_BYTES = 4096, SKEW_STEP = 9, SKEWS = 16 /* offsets in a page, by KERNEL_ALIGNMENT */ };

struct worker {
	struct workers *workers;
	pthread_t thread;
	unsigned cpu;
	char *memory;
	double *arrays[KERNEL_ARRAYS_MAX];
	int error;
};

struct workers {
	struct workers_job job;
	struct kernel_size size; /* of each thread */
	size_t thread_bytes;
	pthread_mutex_t lock;
	pthread_cond_t change;
	unsigned round;    /* counts calls of workers_run() */
	unsigned n_passes; /* of this round; 0: end */
	unsigned n_busy;
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

static hwloc_nodeset_t node_set(unsigned node)
{
	hwloc_nodeset_t set = hwloc_bitmap_alloc();

	if (set)
		hwloc_bitmap_only(set, node);
	return set;
}

/*
 * Binds @memory, and moves pages that are there already. A huge page of a neighbour, such as
 * another thread's stack, may reach into @memory, and that page lies where the stack was touched
 * first.
 */
static bool bind_area(hwloc_topology_t topology, unsigned node, void *memory, size_t bytes)
{
	hwloc_nodeset_t nodes = node_set(node);
	bool bound =
		nodes && hwloc_set_area_membind(topology, memory, bytes, nodes, HWLOC_MEMBIND_BIND,
				 HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_STRICT |
					 HWLOC_MEMBIND_MIGRATE) == 0;

	hwloc_bitmap_free(nodes);
	return bound;
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

static int allocate(struct worker *worker)
{
	const struct workers *workers = worker->workers;

	errno = 0;
	worker->memory =
		allocate_on(workers->job.topology, workers->job.memory_node, workers->thread_bytes);
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
	hwloc_cpuset_t cpus = hwloc_bitmap_alloc();
	int r = -ENOMEM;

	if (cpus) {
		hwloc_bitmap_only(cpus, worker->cpu);
		r = hwloc_set_cpubind(worker->workers->job.topology, cpus,
			    HWLOC_CPUBIND_THREAD | HWLOC_CPUBIND_STRICT) < 0
			    ? -EXDEV
			    : 0;
	}
	hwloc_bitmap_free(cpus);
	return r;
}

static void count_busy(struct workers *workers, int n)
{
	pthread_mutex_lock(&workers->lock);
	workers->n_busy += (unsigned)n;
	if (workers->n_busy == 0)
		pthread_cond_broadcast(&workers->change);
	pthread_mutex_unlock(&workers->lock);
}

/* Waits for a round after @round; returns its passes, 0 at the end. */
static unsigned await_round(struct workers *workers, unsigned *round)
{
	unsigned n;

	pthread_mutex_lock(&workers->lock);
	while (workers->round == *round)
		pthread_cond_wait(&workers->change, &workers->lock);
	*round = workers->round;
	n = workers->n_passes;
	pthread_mutex_unlock(&workers->lock);
	return n;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct workers *workers = worker->workers;
	unsigned round = 0, n;

	worker->error = bind_to_cpu(worker);
	if (!worker->error)
		worker->error = allocate(worker);
	if (!worker->error)
		settle_arrays(worker);
	count_busy(workers, -1);
	while ((n = await_round(workers, &round))) {
		while (n-- && !worker->error && !*workers->job.stop)
			workers->job.kernel->run(worker->arrays, &workers->size);
		count_busy(workers, -1);
	}
	return NULL;
}

static void await_idle(struct workers *workers)
{
	pthread_mutex_lock(&workers->lock);
	while (workers->n_busy)
		pthread_cond_wait(&workers->change, &workers->lock);
	pthread_mutex_unlock(&workers->lock);
}

static void begin_round(struct workers *workers, unsigned n_passes)
{
	pthread_mutex_lock(&workers->lock);
	workers->n_passes = n_passes;
	workers->n_busy = workers->n;
	workers->round++;
	pthread_cond_broadcast(&workers->change);
	pthread_mutex_unlock(&workers->lock);
}

void workers_run(struct workers *workers, unsigned n)
{
	begin_round(workers, n);
	await_idle(workers);
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
	pthread_mutex_init(&workers->lock, NULL);
	pthread_cond_init(&workers->change, NULL);
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
		count_busy(workers, 1);
		r = pthread_create(&worker->thread, NULL, work, worker);
		if (r) {
			count_busy(workers, -1);
			break;
		}
	}
	return -r;
}

int workers_start(const struct workers_job *job, struct workers **ret_workers)
{
	_cleanup_(workers_cleanup) struct workers *workers = workers_new(job);
	int r;

	if (!workers || workers_bytes(workers) > job->most_bytes)
		return -ENOMEM;
	r = start_threads(workers);
	await_idle(workers);
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

uint64_t workers_bytes(const struct workers *workers)
{
	return (uint64_t)workers->thread_bytes * workers->job.n_threads;
}

void workers_done(struct workers *workers)
{
	begin_round(workers, 0);
	for (unsigned i = 0; i < workers->n; i++) {
		pthread_join(workers->worker[i].thread, NULL);
		if (workers->worker[i].memory)
			hwloc_free(workers->job.topology, workers->worker[i].memory,
				workers->thread_bytes);
	}
	pthread_cond_destroy(&workers->change);
	pthread_mutex_destroy(&workers->lock);
	free(workers);
}
