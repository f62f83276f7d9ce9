/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel NAME [KEY=NUMBER...]: runs a kernel of `uncore validate` in one thread, and prints as JSON
 * what it should have moved to and from memory and what a simulated memory controller counted.
 *
 *	number=N halo=N  the kernel's size, as of `uncore validate`
 *	cache=BYTES      of the last level (1 MiB)
 *	passes=N         that are measured (2)
 *
 * A pass before these leaves the caches as the kernel leaves them, so what is thrown out of them at
 * the begin is as much as what stays in them at the end. TRAFFIC_COUNTERS names the file of the
 * counts (counters.h); without it "counted" is null. Under callgrind, --toggle-collect=measured
 * looks at the same passes.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/validate/kernels/kernel.h"
#include "common/macro.h"
#include "tests/harness/program.h"
#include "tests/traffic/counts.h"

enum { PAGE_BYTES = 4096, LINES_OF_PAGE = PAGE_BYTES / TRAFFIC_LINE_BYTES };

struct run {
	const struct kernel *kernel;
	struct kernel_size size;
	double *arrays[KERNEL_ARRAYS_MAX];
	uint64_t passes;
};

/* Returns the passes. */
static uint64_t read_arguments(int argc, char *argv[], struct kernel_wish *ret)
{
	uint64_t passes = 2;
	const struct {
		const char *key;
		uint64_t *value;
	} keys[] = {
		{ "number=", &ret->number },
		{ "halo=", &ret->halo },
		{ "cache=", &ret->cache_bytes },
		{ "passes=", &passes },
	};

	for (int i = 0; i < argc; i++) {
		size_t k = 0;

		while (k < ARRAY_SIZE(keys) && strncmp(argv[i], keys[k].key, strlen(keys[k].key)))
			k++;
		if (k == ARRAY_SIZE(keys))
			errx(2, "'%s' is none of number=, halo=, cache= and passes=.", argv[i]);
		*keys[k].value = program_number(argv[i] + strlen(keys[k].key), UINT64_MAX);
	}
	return passes;
}

/* Arrays at one distance from a page would fall into the same sets of a cache. */
static double *new_array(size_t n_elements, unsigned nth)
{
	size_t pad = (nth * 37 + 5) % (LINES_OF_PAGE - 3) * TRAFFIC_LINE_BYTES;
	size_t bytes = pad + n_elements * sizeof(double);
	char *memory =
		aligned_alloc(PAGE_BYTES, (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
	double *array = (double *)(memory + pad);

	if (!memory)
		errx(1, "There is no memory for an array of %zu elements.", n_elements);
	for (size_t i = 0; i < n_elements; i++)
		array[i] = 1.0 + (double)(i % 7);
	return array;
}

void measured(const struct run *run);
__attribute__((noinline)) void measured(const struct run *run)
{
	for (uint64_t i = 0; i < run->passes; i++)
		run->kernel->run(run->arrays, &run->size);
}

static void print_predicted(const struct run *run, uint64_t cache_bytes)
{
	struct kernel_traffic traffic = run->kernel->predict(run->kernel, &run->size, cache_bytes);
	double passes = (double)run->passes;

	printf("{\"predicted\": {\"read\": %.0f, \"allocated\": %.0f, \"written\": %.0f}",
		passes * traffic.read, passes * traffic.allocated, passes * traffic.written);
}

static void print_counted(const struct traffic_counters readings[2], bool is_counted)
{
	if (!is_counted) {
		printf(", \"counted\": null}\n");
		return;
	}
	printf(", \"counted\": {");
	counts_print(readings, TRAFFIC_NODES);
	printf("}}\n");
}

int main(int argc, char *argv[])
{
	struct kernel_wish wish = { .cache_bytes = 1 << 20 };
	static struct traffic_counters readings[2];
	struct run run = { .kernel = argc > 1 ? kernel_find(argv[1]) : NULL, .passes = 1 };
	uint64_t passes;
	bool is_counted;

	if (!run.kernel)
		errx(2, "Usage: kernel NAME [KEY=NUMBER...], with a NAME of `uncore validate`.");
	passes = read_arguments(argc - 2, argv + 2, &wish);
	if (run.kernel->absent)
		errx(77, "%s", run.kernel->absent);
	run.kernel->choose(&wish, &run.size);
	for (unsigned i = 0; i < run.kernel->n_arrays; i++)
		run.arrays[i] = new_array(run.kernel->elements(&run.size, i), i);
	is_counted = counts_open();
	run.kernel->run(run.arrays, &run.size);
	run.passes = passes;
	counts_read(&readings[0]);
	measured(&run);
	counts_read(&readings[1]);
	print_predicted(&run, wish.cache_bytes);
	print_counted(readings, is_counted);
	return 0;
}
