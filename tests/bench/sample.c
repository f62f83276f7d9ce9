/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of every benchmark for its samples. */
#include "tests/bench/bench.h"

#include <err.h>
#include <stdlib.h>
#include <sys/mman.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double quantile(double values[], unsigned n, double share)
{
	qsort(values, n, sizeof *values, compare);
	return values[(unsigned)(share * (n - 1))];
}

void *shared_memory(uint64_t size_bytes)
{
	void *memory =
		mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	return memory;
}
