/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel NAME [KEY=NUMBER...]: runs a kernel of `uncore validate` in one thread, and prints as JSON
 * what it should have moved to and from memory and what a simulated memory controller counted.
 *
 *	number=N halo=N  the kernel's size, as of `uncore validate`
 *	cache=BYTES      of the last level (1 MiB)
 *	passes=N         that are measured (2)
 *	rest_us=N        between two passes (0)
 *
 * A pass goes before these. TRAFFIC_COUNTERS names the file of the counts (counters.h); without it
 * "counted" is null. Under callgrind, --toggle-collect=measured looks at the same passes.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/harness/kernel-run.h"
#include "tests/harness/program.h"
#include "tests/traffic/counts.h"

static uint64_t rest_us; /* after each pass */

/* Returns the passes. */
static uint64_t read_arguments(int argc, char *argv[], struct kernel_wish *ret)
{
	uint64_t passes = 2;
	const struct {
		const char *key;
		uint64_t *value;
	} keys[] = {
		{ "number=", &ret->number },
		{ "halo=", &ret->halo },
		{ "cache=", &ret->cache_bytes },
		{ "passes=", &passes },
		{ "rest_us=", &rest_us },
	};

	for (int i = 0; i < argc; i++) {
		size_t k = 0;

		while (k < ARRAY_SIZE(keys) && strncmp(argv[i], keys[k].key, strlen(keys[k].key)))
			k++;
		if (k == ARRAY_SIZE(keys))
			errx(2, "'%s' is none of number=, halo=, cache=, passes= and rest_us=.",
				argv[i]);
		*keys[k].value = program_number(argv[i] + strlen(keys[k].key), UINT64_MAX);
	}
	return passes;
}

void measured(const struct kernel_run *run, uint64_t passes);
__attribute__((noinline)) void measured(const struct kernel_run *run, uint64_t passes)
{
	if (!rest_us)
		kernel_run_passes(run, passes);
	for (; rest_us && passes; passes--) {
		kernel_run_passes(run, 1);
		usleep((useconds_t)rest_us);
	}
}

static void print_predicted(const struct kernel_run *run, uint64_t passes, uint64_t cache_bytes)
{
	struct kernel_traffic traffic = run->kernel->predict(run->kernel, &run->size, cache_bytes);
	double n = (double)passes;

	printf("{\"predicted\": {\"read\": %.0f, \"allocated\": %.0f, \"written\": %.0f}",
		n * traffic.read, n * traffic.allocated, n * traffic.written);
}

static void print_counted(const struct traffic_counters readings[2], bool is_counted)
{
	if (!is_counted) {
		printf(", \"counted\": null}\n");
		return;
	}
	printf(", \"counted\": {");
	counts_print(readings, TRAFFIC_NODES);
	printf("}}\n");
}

int main(int argc, char *argv[])
{
	struct kernel_wish wish = { .cache_bytes = 1 << 20 };
	static struct traffic_counters readings[2];
	struct kernel_run run;
	uint64_t passes;
	bool is_counted;

	if (argc < 2)
		errx(2, "Usage: kernel NAME [KEY=NUMBER...], with a NAME of `uncore validate`.");
	passes = read_arguments(argc - 2, argv + 2, &wish);
	is_counted = counts_open();
	kernel_run_prepare(&run, argv[1], &wish);
	counts_read(&readings[0]);
	measured(&run, passes);
	counts_read(&readings[1]);
	print_predicted(&run, passes, wish.cache_bytes);
	print_counted(readings, is_counted);
	return 0;
}
