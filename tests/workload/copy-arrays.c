/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy-arrays MIB [CPU]: pins itself to CPU and copies an array of MIB mebibytes to another one, 8
 * bytes at a time.
 *
 * A cache fetches a line that is stored to, so the copy reads two arrays from memory and writes
 * one. The end of the target stays in the last cache. Both arrays are new memory, untouched before.
 */
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MIB_MAX = 1 << 14, MIB_BYTES = 1 << 20 };

static long number(const char *text, long max)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < 0 || n > max)
		errx(2, "'%s' is not a number from 0 to %ld.", text, max);
	return n;
}

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set) < 0)
		err(1, "Cannot run on CPU %d", cpu);
}

/* Volatile, so that the copy stays a loop of loads and stores. */
static volatile uint64_t *new_array(size_t size_bytes)
{
	void *array = mmap(NULL, size_bytes ? size_bytes : 1, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (array == MAP_FAILED)
		err(1, "Cannot map %zu bytes", size_bytes);
	return array;
}

int main(int argc, char *argv[])
{
	volatile uint64_t *from, *to;
	size_t size_bytes;

	if (argc < 2 || argc > 3)
		errx(2, "Usage: copy-arrays MIB [CPU]");
	size_bytes = (size_t)number(argv[1], MIB_MAX) * MIB_BYTES;
	if (argc == 3)
		pin_to((int)number(argv[2], CPU_SETSIZE - 1));
	from = new_array(size_bytes);
	to = new_array(size_bytes);
	for (size_t i = 0; i < size_bytes / sizeof *to; i++)
		to[i] = from[i];
	printf("copied %s MiB: 2 x %zu bytes to read from memory, 1 x %zu to write\n", argv[1],
		size_bytes, size_bytes);
	return 0;
}
