/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy-arrays MIB [CPU]: pins itself to CPU and copies an array of MIB mebibytes to another one, 8
 * bytes at a time.
 *
 * A cache fetches a line that is stored to, so the copy reads two arrays from memory and writes
 * one. The end of the target stays in the last cache. Both arrays are new memory, untouched before.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tests/harness/program.h"

enum { MIB_MAX = 1 << 14, MIB_BYTES = 1 << 20 };

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
	size_bytes = (size_t)program_number(argv[1], MIB_MAX) * MIB_BYTES;
	if (argc == 3)
		program_run_on((int)program_number(argv[2], CPU_SETSIZE - 1));
	from = new_array(size_bytes);
	to = new_array(size_bytes);
	for (size_t i = 0; i < size_bytes / sizeof *to; i++)
		to[i] = from[i];
	printf("copied %s MiB: 2 x %zu bytes to read from memory, 1 x %zu to write\n", argv[1],
		size_bytes, size_bytes);
	return 0;
}
