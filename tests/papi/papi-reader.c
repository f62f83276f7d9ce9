/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * papi-reader EVENT...: counts these events by PAPI, says "ready", and reads them once for each
 *line of its standard input. A reading is a line of JSON: when PAPI_read() began and ended, and the
 * values in the order of the events, or what PAPI_read() returned instead of them:
 *
 *	{"began_ns":1,"ended_ns":9,"values":[3,4]}
 *	{"began_ns":1,"ended_ns":9,"status":7}
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "events.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void print_reading(struct events *events)
{
	uint64_t began_ns = now_ns();
	int status = events_read(events);

	printf("{\"began_ns\":%" PRIu64 ",\"ended_ns\":%" PRIu64 ",", began_ns, now_ns());
	if (status) {
		printf("\"status\":%d}\n", status);
		return;
	}
	for (int i = 0; i < events->n; i++)
		printf("%s%lld", i ? "," : "\"values\":[", events->values[i]);
	printf("]}\n");
}

int main(int argc, char *argv[])
{
	static struct events events;
	char line[16];

	events_start(&events, argc - 1, argv + 1);
	puts("ready");
	while (fflush(stdout), fgets(line, sizeof line, stdin))
		print_reading(&events);
	return 0;
}
