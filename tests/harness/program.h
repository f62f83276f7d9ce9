/* SPDX-License-Identifier: BSD-3-Clause */
/* What small programs of the tests share: they read numbers from their arguments, choose a CPU and
 * share memory, and end with a sentence where that fails; and they sort what they measured. */
#pragma once

#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Status 2 unless @text is a decimal number from 0 to @most. */
static inline uint64_t program_number(const char *text, uint64_t most)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || n > most)
		errx(2, "'%s' is not a number from 0 to %llu.", text, (unsigned long long)most);
	return n;
}

/* The calling thread runs there from now on. */
static inline void program_run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		err(1, "Cannot run on CPU %d", cpu);
}

/* Memory that children fill in for their parent. */
static inline void *shared_memory(size_t size_bytes)
{
	void *shared =
		mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		err(1, "Cannot map memory");
	return shared;
}

static inline int program_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts @values and returns the value below which @share (0..1) of them lie. */
static inline double quantile(double values[], unsigned n, double share)
{
	const unsigned at = (unsigned)(share * n);

	qsort(values, n, sizeof *values, program_compare);
	return values[at < n ? at : n - 1];
}
