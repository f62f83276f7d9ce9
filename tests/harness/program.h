/* SPDX-License-Identifier: BSD-3-Clause */
/* What small programs of the tests share: they read numbers from their arguments and choose a CPU,
 * and end with a sentence where that fails. */
#pragma once

#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

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
