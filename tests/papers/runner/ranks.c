/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/papers/runner/ranks.h"

#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE_BYTES = 64, SKEW_STEP = 37, SKEWS = 61 };

struct rank {
	struct ranks *ranks;
	size_t number;
	pthread_t thread;
	sem_t turn;
	double *arrays[KERNEL_ARRAYS_MAX];
	double *clean, *other; /* neither is a kernel's */
};

struct ranks {
	const struct options *options;
	const struct kernel *const *kernels;
	pthread_barrier_t edge;  /* of a step: the ranks, and the thread that gives the steps */
	const struct step *step; /* NULL: end */
	struct rank rank[];
};

struct kernel_size ranks_size(
	const struct options *options, const struct kernel *kernel, size_t rank)
{
	const struct kernel_size *given = &options->size;
	struct kernel_wish wish = {
		.number = options->number,
		.halo = given->halo,
		.cache_bytes = options->cache_bytes,
	};
	struct kernel_size size = {};

	kernel->choose(&wish, &size);
	size.n = given->n ? given->n : size.n;
	size.rows = given->rows ? given->rows : size.rows;
	size.columns = given->columns ? given->columns : size.columns;
	size.planes = given->planes ? given->planes : size.planes;
	size.sets = given->sets ? given->sets : size.sets;
	/* The first ones have a column more where the columns cannot be divided evenly. */
	size.columns = size.columns / options->n_parts +
		       (rank % options->n_parts < size.columns % options->n_parts);
	return size;
}

/* --- memory --- */

/* Arrays at equal distances from a page would fall into the same sets of a cache. */
static double *allocate(size_t n_elements, size_t nth)
{
	size_t skew = (nth * SKEW_STEP + 5) % SKEWS * KERNEL_ALIGNMENT;
	size_t bytes = n_elements * sizeof(double) + skew;
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(EXIT_FAILURE, "Cannot allocate %zu bytes for an array", bytes);
	for (size_t i = 0; i < n_elements; i++)
		((double *)(memory + skew))[i] = 1.0 + (double)(i % 7);
	return (double *)(memory + skew);
}

static size_t elements_needed(const struct rank *rank, unsigned array)
{
	const struct ranks *ranks = rank->ranks;
	size_t most = 0;

	for (size_t i = 0; ranks->kernels[i]; i++) {
		const struct kernel *kernel = ranks->kernels[i];
		struct kernel_size size = ranks_size(ranks->options, kernel, rank->number);
		size_t n = array < kernel->n_arrays ? kernel->elements(&size, array) : 0;

		most = n > most ? n : most;
	}
	return most;
}

static void allocate_all(struct rank *rank)
{
	size_t n, nth = rank->number * KERNEL_ARRAYS_MAX;

	for (unsigned i = 0; i < KERNEL_ARRAYS_MAX && (n = elements_needed(rank, i)); i++)
		rank->arrays[i] = allocate(n, nth + i);
	n = rank->ranks->options->flush_bytes / sizeof(double);
	if (n)
		rank->clean = allocate(n, nth + KERNEL_ARRAYS_MAX - 1);
	n = rank->ranks->options->dirty_bytes / sizeof(double);
	if (n)
		rank->other = allocate(n, nth + KERNEL_ARRAYS_MAX - 2);
}

/* --- steps --- */

static void write_other(const struct rank *rank)
{
	size_t n = rank->ranks->options->dirty_bytes / sizeof(double);

	for (size_t i = 0; i < n; i += LINE_BYTES / sizeof(double))
		*(volatile double *)(rank->other + i) = 1;
}

static void read_clean(const struct rank *rank)
{
	size_t n = rank->ranks->options->flush_bytes / sizeof(double);
	double sum = 0;

	for (size_t i = 0; i < n; i += LINE_BYTES / sizeof(double))
		sum += *(volatile double *)(rank->clean + i);
	kernel_sink = sum;
}

static void run_rows(const struct rank *rank, const struct step *step, size_t from, size_t n)
{
	struct kernel_size size = ranks_size(rank->ranks->options, step->kernel, rank->number);
	double *arrays[KERNEL_ARRAYS_MAX];

	loop_from_row(step->loop, &size, from, rank->arrays, arrays);
	size.rows = n;
	step->kernel->run(arrays, &size);
}

/* A row of this rank, a row of the next one: as if all ran at the same speed. */
static void run_in_turns(struct rank *rank, const struct step *step)
{
	struct ranks *ranks = rank->ranks;
	struct rank *next = &ranks->rank[(rank->number + 1) % ranks->options->n_ranks];

	for (size_t row = 0; row < step->n_rows; row++) {
		while (sem_wait(&rank->turn) < 0)
			;
		run_rows(rank, step, step->from_row + row, 1);
		sem_post(&next->turn);
	}
}

static void run_pass(struct rank *rank, const struct step *step)
{
	if (!step->loop) {
		struct kernel_size size =
			ranks_size(rank->ranks->options, step->kernel, rank->number);

		step->kernel->run(rank->arrays, &size);
	} else if (rank->ranks->options->turns) {
		run_in_turns(rank, step);
	} else {
		run_rows(rank, step, step->from_row, step->n_rows);
	}
}

static void do_step(struct rank *rank, const struct step *step)
{
	switch (step->deed) {
	case DEED_RUN:
		for (size_t i = 0; i < step->n_passes; i++)
			run_pass(rank, step);
		break;
	case DEED_READ:
		read_clean(rank);
		break;
	case DEED_WRITE:
		write_other(rank);
		break;
	}
}

/* --- threads --- */

/* To the CPU that has its number among those that this program may use. */
static void bind_to_cpu(const struct rank *rank)
{
	cpu_set_t all, one;
	size_t nth = rank->number;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof all, &all) < 0)
		err(EXIT_FAILURE, "Cannot ask for the CPUs of this program");
	if (nth >= (size_t)CPU_COUNT(&all))
		errx(EXIT_FAILURE,
			"There is no CPU of its own for each rank, without which --bind is "
			"refused.");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && nth-- == 0)
			CPU_SET(cpu, &one);
	if (pthread_setaffinity_np(pthread_self(), sizeof one, &one) != 0)
		errx(EXIT_FAILURE, "The kernel refuses to bind a rank to its CPU.");
}

static void *work(void *argument)
{
	struct rank *rank = argument;
	struct ranks *ranks = rank->ranks;
	const struct step *step;

	if (ranks->options->bind)
		bind_to_cpu(rank);
	allocate_all(rank);
	for (;;) {
		pthread_barrier_wait(&ranks->edge); /* all have done the step before */
		pthread_barrier_wait(&ranks->edge); /* there is a new one */
		step = ranks->step;
		if (!step)
			return NULL;
		do_step(rank, step);
	}
}

struct ranks *ranks_start(const struct options *options, const struct kernel *const kernels[])
{
	size_t n = options->n_ranks;
	struct ranks *ranks = calloc(1, sizeof *ranks + n * sizeof(struct rank));

	if (!ranks)
		err(EXIT_FAILURE, "No memory for %zu ranks", n);
	ranks->options = options;
	ranks->kernels = kernels;
	pthread_barrier_init(&ranks->edge, NULL, (unsigned)n + 1);
	for (size_t i = 0; i < n; i++) {
		ranks->rank[i].ranks = ranks;
		ranks->rank[i].number = i;
		sem_init(&ranks->rank[i].turn, 0, i == 0);
		if (pthread_create(&ranks->rank[i].thread, NULL, work, &ranks->rank[i]) != 0)
			errx(EXIT_FAILURE, "Cannot start %zu threads.", n);
	}
	pthread_barrier_wait(&ranks->edge); /* the arrays are there */
	return ranks;
}

void ranks_do(struct ranks *ranks, const struct step *step)
{
	ranks->step = step;
	pthread_barrier_wait(&ranks->edge);
	if (step)
		pthread_barrier_wait(&ranks->edge);
}

void ranks_done(struct ranks *ranks)
{
	ranks_do(ranks, NULL);
	for (size_t i = 0; i < ranks->options->n_ranks; i++) {
		pthread_join(ranks->rank[i].thread, NULL);
		sem_destroy(&ranks->rank[i].turn);
	}
	pthread_barrier_destroy(&ranks->edge);
	free(ranks);
}
