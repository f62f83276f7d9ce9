/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore-reader: describes the memory channels of all sockets in a line of JSON, and reads them by
 * libuncore once for each line of its standard input. A reading says when the call began and ended,
 * between which times each socket's counters were read, and the channels' bytes in the order of the
 * description:
 *
 *	[{"metric":"dram.read","socket":0,"pmu":"uncore_imc_0","event":"cas_count_read","cpu":0,
 *	  "bytes":64,"name":"imc0"}]
 *	{"began_ns":1,"ended_ns":9,"sweeps":[[3,4]],"values":[192]}
 */
#include "client/libuncore/uncore.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct uncore *handle;
static struct uncore_machine machine = UNCORE_MACHINE_INIT;
static struct uncore_sample *samples;       /* of all sockets */
static struct uncore_channel_value *values; /* of all channels */

static void check(int status)
{
	if (status < 0)
		errx(1, "%s", uncore_error_text());
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void describe(void)
{
	struct uncore_channel channel = UNCORE_CHANNEL_INIT;

	for (uint32_t i = 0; i < machine.n_channels; i++) {
		check(uncore_describe_channel(handle, i, &channel));
		printf("%s{\"metric\":\"%s\",\"socket\":%" PRIu32
		       ",\"pmu\":\"%s\",\"event\":\"%s\","
		       "\"cpu\":%" PRIu32 ",\"bytes\":%" PRIu32 ",\"name\":\"%s\"}",
			i ? "," : "[", uncore_metric_name(handle, channel.metric), channel.socket,
			channel.pmu, channel.event, channel.cpu, channel.bytes, channel.name);
	}
	puts("]");
}

static void allocate(void)
{
	samples = calloc(machine.n_sockets, sizeof *samples);
	values = calloc(machine.n_channels, sizeof *values);
	if (!samples || !values)
		err(1, "calloc");
	for (uint32_t i = 0; i < machine.n_sockets; i++)
		samples[i].size = sizeof *samples;
}

static void read_sockets(void)
{
	struct uncore_channel_value *next = values;
	int n;

	for (uint32_t i = 0; i < machine.n_sockets; i++, next += n) {
		n = uncore_read_channels(handle, i, UNCORE_FRESH, &samples[i], next,
			machine.n_channels - (uint32_t)(next - values));
		check(n);
	}
}

static void print_values(void)
{
	for (uint32_t i = 0; i < machine.n_channels; i++) {
		if (values[i].quality & UNCORE_ABSENT)
			errx(1, "Channel %" PRIu32 " has no value: %s", i,
				uncore_why(handle, values[i].why));
		printf("%s%" PRIu64, i ? "," : "", values[i].count);
	}
}

static void print_reading(void)
{
	uint64_t began_ns = now_ns();

	read_sockets();
	printf("{\"began_ns\":%" PRIu64 ",\"ended_ns\":%" PRIu64 ",\"sweeps\":[", began_ns,
		now_ns());
	for (uint32_t i = 0; i < machine.n_sockets; i++)
		printf("%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", samples[i].begin_ns,
			samples[i].end_ns);
	printf("],\"values\":[");
	print_values();
	puts("]}");
}

int main(void)
{
	char line[16];

	check(uncore_open(NULL, &handle));
	check(uncore_describe(handle, &machine));
	allocate();
	describe();
	while (fflush(stdout), fgets(line, sizeof line, stdin))
		print_reading();
	free(values);
	free(samples);
	uncore_close(handle);
	return 0;
}
