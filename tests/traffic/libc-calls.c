/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libc-calls NAME: calls of which uncore-numbers(7) says what they move. Prints the bytes of an
 * array, and what a simulated memory controller counted, as JSON; a pass before it fills the
 * caches.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "tests/traffic/counts.h"

enum { ARRAY_BYTES = 16 << 20, PASSES = 2 };

static void call_memset(char *to, const char *from)
{
	(void)from;
	memset(to, 1, ARRAY_BYTES);
}

static void call_memcpy(char *to, const char *from)
{
	memcpy(to, from, ARRAY_BYTES);
}

static const struct {
	const char *name;
	void (*run)(char *to, const char *from);
} calls[] = {
	{ "memset", call_memset },
	{ "memcpy", call_memcpy },
};

static char *new_array(void)
{
	char *array = aligned_alloc(4096, ARRAY_BYTES);

	if (!array)
		err(1, "Cannot allocate %d bytes", ARRAY_BYTES);
	memset(array, 1, ARRAY_BYTES);
	return array;
}

int main(int argc, char **argv)
{
	char *to = new_array(), *from = new_array();
	static struct traffic_counters readings[2];
	size_t i = 0;

	while (i < ARRAY_SIZE(calls) && (argc != 2 || strcmp(calls[i].name, argv[1]) != 0))
		i++;
	if (i == ARRAY_SIZE(calls) || !counts_open())
		errx(2, "Usage: TRAFFIC_COUNTERS=FILE libc-calls NAME");
	for (int pass = 0; pass < PASSES; pass++) {
		counts_read(&readings[0]);
		calls[i].run(to, from);
	}
	counts_read(&readings[1]);
	printf("{\"bytes\": %d, ", ARRAY_BYTES);
	counts_print(readings, TRAFFIC_NODES);
	printf("}\n");
	return 0;
}
