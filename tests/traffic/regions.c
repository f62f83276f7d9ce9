/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regions BYTES: copies so many bytes on CPU 0 in a region "copy", and reads as many on CPU 1, in
 * memory that this CPU touches first, in a region "load". To be run on the simulated machine.
 */
#include <err.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#include "tests/harness/program-region.h"
#include "tests/harness/program.h"

static size_t bytes;
static volatile uint64_t sink;

static volatile uint64_t *new_array(void)
{
	void *array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (array == MAP_FAILED)
		err(1, "There is no memory");
	return array;
}

static void copy(void)
{
	volatile uint64_t *from = new_array(), *to = new_array();

	program_begin("copy");
	for (size_t i = 0; i < bytes / sizeof *to; i++)
		to[i] = from[i];
	program_end("copy");
}

static void *load(void *unused)
{
	volatile uint64_t *from = new_array();

	(void)unused;
	program_run_on(1);
	program_begin("load");
	for (size_t i = 0; i < bytes / sizeof *from; i++)
		sink = from[i];
	program_end("load");
	return NULL;
}

int main(int argc, char *argv[])
{
	pthread_t thread;

	if (argc != 2)
		errx(2, "Usage: regions BYTES");
	bytes = program_number(argv[1], SIZE_MAX);
	program_run_on(0);
	copy();
	if (pthread_create(&thread, NULL, load, NULL) || pthread_join(thread, NULL))
		errx(1, "There is no thread.");
	return 0;
}
