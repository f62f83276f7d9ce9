/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * papi-timeline CPU ROWS EVENT...: a program with phases, and a timeline of what PAPI counts
 * meanwhile, as CSV: the phase, when the step ended, and the growth of each event in that step. The
 * events may be of several components.
 *
 * The phases are those of a distributed FFT: it gets data, transforms what is in its cache, sorts
 * large matrices anew, and exchanges data with others. All amounts are fixed, whatever time they
 * take. The program counts its own arithmetic as a software-defined event, sde:::phases::work.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <sde_lib/sde_lib.h>

#include "events.h"
#include "tests/harness/program.h"

enum {
	ROWS_MAX = 1 << 16,
	STEPS = 4, /* of each phase */
	POINTS = 1024,
	PASSES = 2000,
	PADDING = 8, /* elements between rows: else a column's lines would share a few sets of a
			cache */
	BLOCK_BYTES = 64 * 1024,
	BLOCKS = 256,
};

static size_t rows;       /* of each matrix, and columns */
static double *from, *to; /* matrices */
static long long work;    /* points transformed */
static int ends[2];
static char block[BLOCK_BYTES];
static char output[1 << 18]; /* all of it: a write while the phases run would be counted */

static size_t matrix_elements(void)
{
	return rows * (rows + PADDING);
}

/* Memory that nobody has touched before, so that there is a page fault for each page, too. */
static void renew(double **matrix)
{
	size_t n_bytes = matrix_elements() * sizeof(double);

	if (*matrix)
		munmap(*matrix, n_bytes);
	*matrix = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*matrix == MAP_FAILED)
		err(1, "Cannot map %zu bytes", n_bytes);
	madvise(*matrix, n_bytes, MADV_NOHUGEPAGE); /* without huge pages in the kernel it fails */
}

/* Writes both matrices. */
static void fill(void)
{
	renew(&from);
	renew(&to);
	for (size_t i = 0; i < matrix_elements(); i++)
		from[i] = to[i] = (double)i;
}

/* Data that stays in the cache: no memory traffic. */
static void transform(void)
{
	static double points[POINTS];

	for (int pass = 0; pass < PASSES; pass++) {
		for (int i = 0; i < POINTS; i++)
			points[i] = points[i] * 0.5 + points[(i * 5 + 1) % POINTS];
		work += POINTS;
	}
}

/* Reads rows and writes columns. */
static void sort_anew(void)
{
	size_t stride = rows + PADDING;

	for (size_t row = 0; row < rows; row++)
		for (size_t column = 0; column < rows; column++)
			to[column * stride + row] = from[row * stride + column];
}

static void exchange(void)
{
	ssize_t n;

	for (int i = 0; i < BLOCKS; i++)
		for (size_t done = 0; done < sizeof block; done += (size_t)n) {
			n = write(ends[0], block, sizeof block - done);
			if (n > 0)
				n = read(ends[1], block, (size_t)n);
			if (n < 0)
				err(1, "Cannot exchange data");
		}
}

static const struct phase {
	const char *name;
	void (*step)(void);
} phases[] = {
	{ "fill", fill },
	{ "transform", transform },
	{ "resort", sort_anew },
	{ "exchange", exchange },
	{ "resort", sort_anew },
	{ "transform", transform },
};

static void print_heading(const struct events *events)
{
	printf("phase,ms");
	for (int i = 0; i < events->n; i++)
		printf(",%s", events->names[i]);
	printf("\n");
}

static double ms_since(const struct timespec *began)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - began->tv_sec) * 1e3 +
	       (double)(now.tv_nsec - began->tv_nsec) / 1e6;
}

static void run_step(const struct phase *phase, struct events *events, const struct timespec *began)
{
	long long before[EVENTS_MAX];
	int status;

	memcpy(before, events->values, sizeof before);
	phase->step();
	status = events_read(events);
	if (status)
		errx(1, "PAPI_read returned %d.", status);
	printf("%s,%.1f", phase->name, ms_since(began));
	for (int i = 0; i < events->n; i++)
		printf(",%lld", events->values[i] - before[i]);
	printf("\n");
}

static void prepare(const char *cpu, const char *n_rows)
{
	program_run_on((int)program_number(cpu, CPU_SETSIZE - 1));
	rows = program_number(n_rows, ROWS_MAX);
	if (rows == 0)
		errx(2, "ROWS must be a positive number.");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		err(1, "socketpair");
	memset(block, 1, sizeof block);
	if (papi_sde_register_counter(papi_sde_init("phases"), "work", PAPI_SDE_RO | PAPI_SDE_DELTA,
		    PAPI_SDE_long_long, &work))
		errx(1, "libsde does not take the counter.");
}

int main(int argc, char *argv[])
{
	static struct events events;
	struct timespec began;

	if (argc < 4)
		errx(2, "Usage: papi-timeline CPU ROWS EVENT...");
	setvbuf(stdout, output, _IOFBF, sizeof output);
	prepare(argv[1], argv[2]);
	events_start(&events, argc - 3, argv + 3);
	if (events_read(&events))
		errx(1, "The first PAPI_read failed.");
	print_heading(&events);
	clock_gettime(CLOCK_MONOTONIC, &began);
	for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
		for (int step = 0; step < STEPS; step++)
			run_step(&phases[i], &events, &began);
	return 0;
}
