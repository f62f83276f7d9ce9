/* SPDX-License-Identifier: BSD-3-Clause */
/* The stand-in's work: loops of the project by name, on arrays that all of them share. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/papers/loops/loop.h"

static struct kernel_size size;
static double *arrays[KERNEL_ARRAYS_MAX];

void standin_prepare(int columns, int rows);
void standin_run(const char *names);

void standin_prepare(int columns, int rows)
{
	size_t n = (size_t)(columns + LOOP_MARGIN) * (size_t)(rows + LOOP_MARGIN);

	size = (struct kernel_size){ .columns = (size_t)columns, .rows = (size_t)rows };
	for (int i = 0; i < KERNEL_ARRAYS_MAX; i++) {
		/* Arrays at one distance from a page would fall into the same sets of a cache. */
		char *memory = malloc(n * sizeof(double) + 4096);

		if (!memory)
			err(EXIT_FAILURE, "No memory for the arrays of the stand-in");
		arrays[i] =
			(double *)(memory + 64 - (size_t)memory % 64 + (size_t)(i * 37 % 61) * 64);
		for (size_t k = 0; k < n; k++)
			arrays[i][k] = 1;
	}
}

void standin_run(const char *names)
{
	char name[8];
	int length;

	for (; sscanf(names, "%7s%n", name, &length) == 1; names += length)
		loop_find(name)->kernel.run(arrays, &size);
}
