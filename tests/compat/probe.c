/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A user's program, with any daemon. Built against the header of an earlier release, any later
 * libuncore must serve it. Built against the header of this release, the earlier libuncore must.
 *
 * - `probe dump SOCKET` prints the contents of a page.
 * - `probe truth SOCKET CPU REPORT FD` touches pages on CPU, whose socket must show the kernel's
 *   count of them; that count is read from FD. A region's report goes to REPORT.
 * - `probe refused SOCKET ERRNO WORDS` is given no handle, for this reason.
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "uncore.h"

enum { PAGES = 25600, PAGE_WORTH = 4096, SOCKETS_MAX = 2 };

static int complain(const char *what)
{
	printf("%s: %s\n", what, uncore_error_text());
	return 1;
}

/* --- dump --- */

static void dump_socket(const struct uncore *uncore, uint32_t socket)
{
	struct uncore_socket found = UNCORE_SOCKET_INIT;

	uncore_describe_socket(uncore, socket, &found);
	printf("socket %u: package %u, CPU %u, channels %u from %u\n", socket, found.package,
		found.cpu, found.n_channels, found.first_channel);
}

static void dump_channel(const struct uncore *uncore, uint32_t channel)
{
	struct uncore_channel found = UNCORE_CHANNEL_INIT;

	uncore_describe_channel(uncore, channel, &found);
	printf("channel %u: %s of socket %u, metric %u, %s %s on CPU %u, %u bytes\n", channel,
		found.name, found.socket, found.metric, found.pmu, found.event, found.cpu,
		found.bytes);
}

static void dump_value(const struct uncore *uncore, uint32_t metric, const struct uncore_value *v)
{
	char words[128];

	uncore_quality_words(v->quality, words, sizeof words);
	printf("  %s: %" PRIu64 " %s, quality '%s'", uncore_metric_name(uncore, metric), v->count,
		uncore_metric_unit(uncore, metric), words);
	for (int i = 0; i < UNCORE_PASSING_MAX; i++)
		printf(" %" PRIu64, v->raised[i]);
	printf(v->quality & UNCORE_ABSENT ? ", %s\n" : "\n", uncore_why(uncore, v->why));
}

static int dump_values(const struct uncore *uncore, uint32_t socket)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore_channel_value channels[64];
	int n = uncore_read_channels(uncore, socket, UNCORE_CACHED, &sample, channels, 64);

	if (n < 0)
		return complain("cached read");
	printf("sweep %" PRIu64 " of socket %u: %" PRIu64 " to %" PRIu64 " ns\n", sample.sweep,
		socket, sample.begin_ns, sample.end_ns);
	for (uint32_t m = 0; m < sample.n_values; m++)
		dump_value(uncore, m, &sample.values[m]);
	for (int c = 0; c < n; c++)
		printf("  channel %d: %" PRIu64 ", quality %#x\n", c, channels[c].count,
			channels[c].quality);
	return 0;
}

static void dump_daemon(const struct uncore *uncore)
{
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;

	uncore_describe_daemon(uncore, &daemon);
	printf("daemon: started %" PRIu64 " ns, %u clients, %" PRIu64 " refused, %" PRIu64
	       " sweeps, %" PRIu64 " throttled, %" PRIu64 " ns of CPU, interval %" PRIu64 " ns\n",
		daemon.started_ns, daemon.n_clients, daemon.refused, daemon.sweeps,
		daemon.throttled, daemon.cpu_ns, daemon.min_interval_ns);
}

static int dump(const struct uncore *uncore)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	int r = 0;

	if (uncore_describe(uncore, &machine) < 0)
		return complain("describe");
	printf("platform %s, generation %016" PRIx64 "%016" PRIx64 ", %u metrics\n",
		machine.platform, machine.generation[0], machine.generation[1], machine.n_metrics);
	dump_daemon(uncore);
	for (uint32_t s = 0; s < machine.n_sockets; s++)
		dump_socket(uncore, s);
	for (uint32_t c = 0; c < machine.n_channels; c++)
		dump_channel(uncore, c);
	for (uint32_t s = 0; s < machine.n_sockets; s++)
		r |= dump_values(uncore, s);
	return r;
}

/* --- truth --- */

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void touch_pages(void)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	madvise((void *)memory, PAGES * page_bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		memory[i * page_bytes] = 1;
	munmap((void *)memory, PAGES * page_bytes);
}

/* A cached read must return the last sweep. */
static int check_cached(const struct uncore *uncore, const struct uncore_sample *last)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	if (uncore_read(uncore, last->socket, UNCORE_CACHED, &sample) < 0)
		return complain("cached read");
	return sample.sweep >= last->sweep ? 0
					   : complain("a cached read is older than a fresh one");
}

/* The kernel's own count of page faults on the CPU: a perf event of the process that started us. */
static uint64_t kernel_count(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof count) != sizeof count)
		abort();
	return count;
}

/* The kernel's count before and after the first reading, and before and after the last. */
struct bounds {
	uint64_t begin[2], end[2];
};

/* The bytes shown lie between these two, however many pages other processes touch meanwhile. */
static uint64_t least_bytes(const struct bounds *bounds)
{
	return (bounds->end[0] - bounds->begin[1]) * PAGE_WORTH;
}

static uint64_t most_bytes(const struct bounds *bounds)
{
	return (bounds->end[1] - bounds->begin[0]) * PAGE_WORTH;
}

static int read_all(
	const struct uncore *uncore, struct uncore_sample samples[], int fd, uint64_t ret_counts[2])
{
	int r;

	ret_counts[0] = kernel_count(fd);
	r = uncore_read_all(uncore, UNCORE_FRESH, samples, SOCKETS_MAX);
	ret_counts[1] = kernel_count(fd);
	return r;
}

static int check_value(const struct uncore_delta_value *value, const struct bounds *bounds)
{
	if (value->count >= least_bytes(bounds) && value->count <= most_bytes(bounds) &&
		value->count >= (uint64_t)PAGES * PAGE_WORTH && value->quality == UNCORE_STANDIN)
		return 0;
	printf("delta: %" PRIu64 " bytes, not %" PRIu64 " to %" PRIu64 "; quality %#x\n",
		value->count, least_bytes(bounds), most_bytes(bounds), value->quality);
	return 1;
}

static int check_delta(const struct uncore *uncore, uint32_t socket, int fd)
{
	struct uncore_sample before[SOCKETS_MAX] = { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT };
	struct uncore_sample after[SOCKETS_MAX] = { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT };
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	struct bounds bounds;
	int metric = uncore_find_metric(uncore, "dram.read");

	if (metric < 0 || read_all(uncore, before, fd, bounds.begin) < 0)
		return complain("fresh read");
	touch_pages();
	if (read_all(uncore, after, fd, bounds.end) < 0 ||
		uncore_delta(&before[socket], &after[socket], &delta) < 0)
		return complain("fresh read and delta");
	return check_value(&delta.values[metric], &bounds) || check_cached(uncore, &after[socket]);
}

/* Prints the bounds of the bytes in the region's report. */
static int work_in_a_region(const char *report, int fd)
{
	struct bounds bounds;

	bounds.begin[0] = kernel_count(fd);
	if (uncore_region_begin("work") < 0)
		return complain("region begins");
	bounds.begin[1] = kernel_count(fd);
	touch_pages();
	bounds.end[0] = kernel_count(fd);
	if (uncore_region_end("work") < 0)
		return complain("region ends");
	bounds.end[1] = kernel_count(fd);
	if (uncore_region_report(report) < 0)
		return complain("report");
	printf("region: %" PRIu64 " to %" PRIu64 " bytes\n", least_bytes(&bounds),
		most_bytes(&bounds));
	return 0;
}

static int check_info(const char *path)
{
	char *text;

	if (uncore_info(path, &text) < 0)
		return complain("info");
	if (!strstr(text, "standin"))
		return complain(text);
	free(text);
	return 0;
}

static int truth(const struct uncore *uncore, char **arguments)
{
	int cpu = atoi(arguments[3]), fd = atoi(arguments[5]);

	pin_to(cpu);
	setenv("UNCORE_SOCKET", arguments[2], 1);
	return check_delta(uncore, (uint32_t)cpu, fd) || work_in_a_region(arguments[4], fd) ||
	       check_info(arguments[2]);
}

static int refused(char **arguments)
{
	struct uncore *uncore;
	int r = uncore_open(arguments[2], &uncore);

	if (r == -atoi(arguments[3]) && strstr(uncore_error_text(), arguments[4]))
		return 0;
	printf("uncore_open() returned %d, not %s: ", r, arguments[3]);
	return complain("");
}

int main(int argc, char **argv)
{
	struct uncore *uncore;
	int status;

	if (argc == 5 && !strcmp(argv[1], "refused"))
		return refused(argv);
	if (argc < 3 || uncore_open(argv[2], &uncore) < 0)
		return complain("open");
	status = !strcmp(argv[1], "truth") && argc == 6 ? truth(uncore, argv) : dump(uncore);
	uncore_close(uncore);
	return status;
}
