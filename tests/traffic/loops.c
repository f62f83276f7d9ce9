/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loops NAME: the loops of which uncore(1) says what they move. Prints the bytes of an array, and
 * what a simulated memory controller counted, as JSON; a pass before it fills the caches.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/validate/kernels/whole-lines.h"
#include "common/macro.h"
#include "tests/traffic/counts.h"

enum { ARRAY_BYTES = 16 << 20, PASSES = 2 };

static void sum(double *to, const double *from, size_t n)
{
	double total = 0;

	for (size_t i = 0; i < n; i++)
		total += from[i];
	*(volatile double *)to = total;
}

static void store(double *to, const double *from, size_t n)
{
	(void)from;
	for (size_t i = 0; i < n; i++)
		to[i] = 1.5;
}

static void copy(double *to, const double *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

static void copy_nontemporal(double *to, const double *from, size_t n)
{
	for (size_t i = 0; i < n; i += 2)
		store_nontemporal(to + i, *(const pair *)(from + i));
	store_fence();
}

static void call_memset(double *to, const double *from, size_t n)
{
	(void)from;
	memset(to, 1, n * sizeof *to);
}

static void call_memcpy(double *to, const double *from, size_t n)
{
	memcpy(to, from, n * sizeof *to);
}

static const struct {
	const char *name;
	void (*run)(double *to, const double *from, size_t n);
} loops[] = {
	{ "sum", sum },
	{ "store", store },
	{ "copy", copy },
	{ "copy-nontemporal", copy_nontemporal },
	{ "memset", call_memset },
	{ "memcpy", call_memcpy },
};

static double *new_array(void)
{
	double *array = aligned_alloc(4096, ARRAY_BYTES);

	if (!array)
		err(1, "Cannot allocate %d bytes", ARRAY_BYTES);
	memset(array, 1, ARRAY_BYTES);
	return array;
}

int main(int argc, char **argv)
{
	double *to = new_array(), *from = new_array();
	static struct traffic_counters readings[2];
	size_t i = 0;

	while (i < ARRAY_SIZE(loops) && (argc != 2 || strcmp(loops[i].name, argv[1]) != 0))
		i++;
	if (i == ARRAY_SIZE(loops) || !counts_open())
		errx(2, "Usage: TRAFFIC_COUNTERS=FILE loops NAME");
	for (int pass = 0; pass < PASSES; pass++) {
		counts_read(&readings[0]);
		loops[i].run(to, from, ARRAY_BYTES / sizeof *to);
	}
	counts_read(&readings[1]);
	printf("{\"bytes\": %d, ", ARRAY_BYTES);
	counts_print(readings, TRAFFIC_NODES);
	printf("}\n");
	return 0;
}
