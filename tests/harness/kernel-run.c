/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/kernel-run.h"

#include <err.h>
#include <stdlib.h>

enum { PAGE_BYTES = 4096, LINE_BYTES = 64, LINES_OF_PAGE = PAGE_BYTES / LINE_BYTES };

/* Arrays at one distance from a page would fall into the same sets of a cache. */
static double *new_array(size_t n_elements, unsigned nth)
{
	size_t pad = (nth * 37 + 5) % (LINES_OF_PAGE - 3) * LINE_BYTES;
	size_t bytes = pad + n_elements * sizeof(double);
	char *memory =
		aligned_alloc(PAGE_BYTES, (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES);
	double *array;

	if (!memory)
		errx(1, "There is no memory for an array of %zu elements.", n_elements);
	array = (double *)(memory + pad);
	for (size_t i = 0; i < n_elements; i++)
		array[i] = 1.0 + (double)(i % 7);
	return array;
}

void kernel_run_prepare(struct kernel_run *ret, const char *kernel, const struct kernel_wish *wish)
{
	*ret = (struct kernel_run){ .kernel = kernel_find(kernel) };
	if (!ret->kernel)
		errx(2, "`uncore validate` has no kernel '%s'.", kernel);
	if (ret->kernel->absent)
		errx(77, "%s", ret->kernel->absent);
	ret->kernel->choose(wish, &ret->size);
	for (unsigned i = 0; i < ret->kernel->n_arrays; i++)
		ret->arrays[i] = new_array(ret->kernel->elements(&ret->size, i), i);
	kernel_run_passes(ret, 1);
}

void kernel_run_passes(const struct kernel_run *run, uint64_t passes)
{
	for (uint64_t i = 0; i < passes; i++)
		run->kernel->run(run->arrays, &run->size);
}
