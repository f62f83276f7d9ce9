/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One reader: a privileged process that reads every group itself, against an unprivileged client of
 * uncored. The two take turns, so that both see the same machine: once with a pause before each
 * read, as a program works between its readings, and once without, which keeps idle CPUs from going
 * to sleep (cpuidle's haltpoll, in a virtual machine) and so makes interrupting them cheap.
 */
#include "tests/bench/bench.h"

#include <err.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"

enum { BOXES = 48, EVENTS = 3, SOCKETS = 2, READS = 1000, CACHED_READS = 2000000, PARTS = 20 };

/* How the reads of a kind follow each other. */
struct pace {
	int block; /* this many reads, then it is the next kind's turn */
	useconds_t pause_us;
};

static const struct pace paused = { 1, 500 }, without_pause = { 100, 0 };

/* The events of a box of standin-wide: page faults, minor and major ones. */
static const uint64_t event_configs[EVENTS] = { PERF_COUNT_SW_PAGE_FAULTS,
	PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_PAGE_FAULTS_MAJ };

static int open_event(uint64_t config, int cpu, int group_fd)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = config,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.pinned = group_fd < 0,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		err(1, "perf_event_open");
	return fd;
}

static void open_groups(int ret_leaders[SOCKETS][BOXES])
{
	for (int s = 0; s < SOCKETS; s++)
		for (int b = 0; b < BOXES; b++) {
			ret_leaders[s][b] = open_event(event_configs[0], s, -1);
			for (int e = 1; e < EVENTS; e++)
				open_event(event_configs[e], s, ret_leaders[s][b]);
		}
}

static void read_groups(const int leaders[BOXES])
{
	uint64_t words[3 + EVENTS];

	for (int b = 0; b < BOXES; b++)
		if (read(leaders[b], words, sizeof words) != sizeof words)
			err(1, "Cannot read a perf group");
}

struct block {
	const struct uncore *uncore;
	int (*leaders)[BOXES];
};

static void read_serially(const struct block *block)
{
	for (int s = 0; s < SOCKETS; s++)
		read_groups(block->leaders[s]);
}

static void read_locally(const struct block *block)
{
	read_groups(block->leaders[0]);
}

static void read_fresh_all(const struct block *block)
{
	struct uncore_sample samples[SOCKETS] = { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT };

	if (uncore_read_all(block->uncore, UNCORE_FRESH, samples, SOCKETS) < 0)
		errx(1, "%s", uncore_error_text());
}

static void read_fresh_own(const struct block *block)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	if (uncore_read(block->uncore, 0, UNCORE_FRESH, &sample) < 0)
		errx(1, "%s", uncore_error_text());
}

static double time_read(const struct block *block, void (*read_once)(const struct block *block))
{
	uint64_t begin_ns = clock_now_ns();

	read_once(block);
	return (double)(clock_now_ns() - begin_ns) / 1e3;
}

enum { SERIAL, LOCAL, FRESH_ALL, FRESH_OWN, FRESH_BESIDE, KINDS };

/* CPU 0 is all of socket 0 here, and where its reader runs; so CPU 1 is the neighbour core. */
static const struct {
	void (*read_once)(const struct block *block);
	int cpu;
} kinds[KINDS] = {
	[SERIAL] = { read_serially, 0 },
	[LOCAL] = { read_locally, 0 },
	[FRESH_ALL] = { read_fresh_all, 0 },
	[FRESH_OWN] = { read_fresh_own, 0 },
	[FRESH_BESIDE] = { read_fresh_own, 1 },
};

struct turns {
	const char *socket_path;
	int (*leaders)[BOXES];
	const struct pace *pace;
	double (*ret_us)[READS]; /* of each kind */
};

/* Without a pause it does not call usleep(): usleep(0) sleeps some 50 us. */
static void pause_before(const struct pace *pace)
{
	if (pace->pause_us)
		usleep(pace->pause_us);
}

/* The descriptors of the groups were opened with privilege; this process has none. */
static int take_turns(void *argument)
{
	struct turns *turns = argument;
	struct block block = { .leaders = turns->leaders };
	struct uncore *uncore;

	if (uncore_open(turns->socket_path, &uncore) < 0)
		errx(1, "%s", uncore_error_text());
	block.uncore = uncore;
	for (int i = 0; i < READS; i += turns->pace->block)
		for (int kind = 0; kind < KINDS; kind++) {
			pin_to_cpu(kinds[kind].cpu);
			for (int k = i; k < i + turns->pace->block; k++) {
				pause_before(turns->pace);
				turns->ret_us[kind][k] = time_read(&block, kinds[kind].read_once);
			}
		}
	uncore_close(uncore);
	return 0;
}

static struct latency_figures measure_pace(
	const struct daemon_process *daemon, int leaders[SOCKETS][BOXES], const struct pace *pace)
{
	double(*us)[READS] = shared_memory(sizeof *us * KINDS);
	struct turns turns = { daemon->socket_path, leaders, pace, us };

	if (as_nobody(take_turns, &turns))
		errx(1, "The latency measurement failed.");
	return (struct latency_figures){
		.serial_us = quantile(us[SERIAL], READS, 0.5),
		.local_us = quantile(us[LOCAL], READS, 0.5),
		.fresh_all_us = quantile(us[FRESH_ALL], READS, 0.5),
		.fresh_own_us = quantile(us[FRESH_OWN], READS, 0.5),
		.fresh_beside_us = quantile(us[FRESH_BESIDE], READS, 0.5),
	};
}

static int time_cached(void *argument)
{
	struct turns *turns = argument;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;
	uint64_t begin_ns;

	if (uncore_open(turns->socket_path, &uncore) < 0)
		errx(1, "%s", uncore_error_text());
	for (int i = 0; i < PARTS; i++) {
		begin_ns = clock_now_ns();
		for (int k = 0; k < CACHED_READS / PARTS; k++)
			uncore_read(uncore, 0, UNCORE_CACHED, &sample);
		turns->ret_us[0][i] = (double)(clock_now_ns() - begin_ns) * PARTS / CACHED_READS;
	}
	uncore_close(uncore);
	return 0;
}

void measure_latency(const struct daemon_process *daemon, struct method_figures *ret)
{
	static int leaders[SOCKETS][BOXES];
	double(*us)[READS] = shared_memory(sizeof *us);
	struct turns turns = { .socket_path = daemon->socket_path, .ret_us = us };

	open_groups(leaders);
	ret->paused = measure_pace(daemon, leaders, &paused);
	ret->without_pause = measure_pace(daemon, leaders, &without_pause);
	close_range((unsigned)leaders[0][0], ~0U, 0);
	if (as_nobody(time_cached, &turns))
		errx(1, "The measurement of cached reads failed.");
	ret->cached_ns = quantile(us[0], PARTS, 0.5);
}

/* Reads for two seconds. The last reads have used up the saved time, and wait for the budget. */
static int read_without_pause(void *argument)
{
	struct turns *turns = argument;
	struct block block = {};
	struct uncore *uncore;
	uint64_t begin_ns = clock_now_ns();

	if (uncore_open(turns->socket_path, &uncore) < 0)
		errx(1, "%s", uncore_error_text());
	block.uncore = uncore;
	for (int i = 0; clock_now_ns() - begin_ns < 2000000000U; i++)
		turns->ret_us[0][i % READS] = time_read(&block, read_fresh_all);
	uncore_close(uncore);
	return 0;
}

void measure_default_budget(const char *config, struct method_figures *ret)
{
	struct daemon_process daemon = {};
	double(*us)[READS] = shared_memory(sizeof *us);
	struct turns turns = { .ret_us = us };

	daemon_start(&daemon, "standin-wide", config);
	turns.socket_path = daemon.socket_path;
	if (as_nobody(read_without_pause, &turns))
		errx(1, "The measurement of the default budget failed.");
	ret->default_budget_us = 0;
	for (int i = 0; i < READS; i++)
		ret->default_budget_us += us[0][i] / READS;
	daemon_stop(&daemon);
}
