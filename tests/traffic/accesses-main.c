/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/traffic/accesses.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/traffic/counts.h"

enum { OTHER_BYTES = 512 << 10 /* twice the last cache of the tests */ };

char *memory;
volatile uint64_t sink;
static char *other;

static void nothing(void)
{
}

static void (*find_case(const char *name))(void)
{
	const struct access_case *found = access_cases;

	if (!name)
		errx(2, "Usage: accesses CASE; accesses.h says what that does.");
	if (strcmp(name, "nothing") == 0)
		return nothing;
	while (found->name && strcmp(found->name, name) != 0)
		found++;
	if (!found->name)
		errx(2, "There is no case '%s'.", name);
	return found->run;
}

static char *map(size_t bytes)
{
	char *mapped =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mapped == MAP_FAILED)
		err(1, "Memory cannot be mapped");
	return mapped;
}

static void read_other(void)
{
	for (size_t i = 0; i < OTHER_BYTES; i += LINE)
		sink = *(volatile uint64_t *)(other + i);
}

static void measure(void (*run)(void), struct traffic_counters readings[2])
{
	read_other();
	read_other(); /* the first time it throws out what was dirty */
	counts_read(&readings[0]);
	run();
	read_other();
	counts_read(&readings[1]);
}

int main(int argc, char *argv[])
{
	static struct traffic_counters readings[2];
	void (*run)(void) = find_case(argc == 2 ? argv[1] : NULL);

	if (!counts_open())
		errx(2, "TRAFFIC_COUNTERS names no file of counts.");
	memory = map(BYTES);
	other = map(OTHER_BYTES);
	measure(run, readings);
	for (unsigned node = 0; node < TRAFFIC_NODES; node++) {
		printf(node ? ", {" : "[{");
		counts_print(readings, node);
		printf("}");
	}
	printf("]\n");
	return 0;
}
