/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One reader: a privileged process that reads every group itself, against an unprivileged client of
 * uncored. The two take turns in blocks, so that both see the same machine.
 */
#include "tests/bench/bench.h"

#include <err.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/uncore.h"
#include "common/clock.h"
#include "common/macro.h"

enum { BOXES = 48, EVENTS = 3, SOCKETS = 2, BLOCKS = 20, READS = 100, CACHED_READS = 2000000 };

/* The events of a box of standin-wide: page faults, minor faults, context switches. */
static const uint64_t event_configs[EVENTS] = { PERF_COUNT_SW_PAGE_FAULTS,
	PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_CONTEXT_SWITCHES };

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
	double *ret_us;
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

static void time_block(const struct block *block, void (*read_once)(const struct block *block))
{
	for (int i = 0; i < READS; i++) {
		uint64_t begin_ns = clock_now_ns();

		read_once(block);
		block->ret_us[i] = (double)(clock_now_ns() - begin_ns) / 1e3;
	}
}

enum { SERIAL, LOCAL, FRESH_ALL, FRESH_OWN, KINDS };

static const struct {
	void (*read_once)(const struct block *block);
} kinds[KINDS] = {
	[SERIAL] = { read_serially },
	[LOCAL] = { read_locally },
	[FRESH_ALL] = { read_fresh_all },
	[FRESH_OWN] = { read_fresh_own },
};

struct blocks_argument {
	const char *socket_path;
	int (*leaders)[BOXES];
	double (*ret_us)[BLOCKS * READS];
};

/* Descriptors of the groups were opened with privilege; what reads them here has none. */
static int take_turns(void *argument)
{
	struct blocks_argument *blocks = argument;
	struct uncore *uncore;

	if (uncore_open(blocks->socket_path, &uncore) < 0)
		errx(1, "%s", uncore_error_text());
	for (int i = 0; i < BLOCKS; i++)
		for (int kind = 0; kind < KINDS; kind++) {
			/* All run on socket 0, which is "own"; its reader does, too. */
			struct block block = { uncore, blocks->leaders,
				&blocks->ret_us[kind][i * READS] };

			pin_to_cpu(0);
			time_block(&block, kinds[kind].read_once);
		}
	uncore_close(uncore);
	return 0;
}

static int time_cached(void *argument)
{
	struct blocks_argument *blocks = argument;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;
	uint64_t begin_ns;

	if (uncore_open(blocks->socket_path, &uncore) < 0)
		errx(1, "%s", uncore_error_text());
	for (int i = 0; i < BLOCKS; i++) {
		begin_ns = clock_now_ns();
		for (int k = 0; k < CACHED_READS / BLOCKS; k++)
			uncore_read(uncore, 0, UNCORE_CACHED, &sample);
		blocks->ret_us[0][i] = (double)(clock_now_ns() - begin_ns) * BLOCKS / CACHED_READS;
	}
	uncore_close(uncore);
	return 0;
}

void measure_latency(const struct daemon_process *daemon, struct figures *ret)
{
	static int leaders[SOCKETS][BOXES];
	double(*us)[BLOCKS * READS] = shared_memory(sizeof *us * KINDS);
	struct blocks_argument argument = { daemon->socket_path, leaders, us };

	open_groups(leaders);
	if (as_nobody(take_turns, &argument))
		errx(1, "The latency measurement failed.");
	ret->serial_us = quantile(us[SERIAL], BLOCKS * READS, 0.5);
	ret->local_us = quantile(us[LOCAL], BLOCKS * READS, 0.5);
	ret->fresh_all_us = quantile(us[FRESH_ALL], BLOCKS * READS, 0.5);
	ret->fresh_own_us = quantile(us[FRESH_OWN], BLOCKS * READS, 0.5);
	close_range((unsigned)leaders[0][0], ~0U, 0);
	if (as_nobody(time_cached, &argument))
		errx(1, "The measurement of cached reads failed.");
	ret->cached_ns = quantile(us[0], BLOCKS, 0.5);
}

/* Enough reads to use up what was saved, then a second of those that must wait for the budget. */
static int read_without_pause(void *argument)
{
	struct blocks_argument *blocks = argument;
	struct block block = { .ret_us = blocks->ret_us[0] };
	struct uncore *uncore;
	uint64_t begin_ns = clock_now_ns();

	if (uncore_open(blocks->socket_path, &uncore) < 0)
		errx(1, "%s", uncore_error_text());
	block.uncore = uncore;
	while (clock_now_ns() - begin_ns < 2000000000U)
		time_block(&block, read_fresh_all);
	uncore_close(uncore);
	return 0;
}

void measure_default_budget(struct figures *ret)
{
	struct daemon_process daemon = {};
	double(*us)[BLOCKS * READS] = shared_memory(sizeof *us);
	struct blocks_argument argument = { daemon.socket_path, NULL, us };

	daemon_start(&daemon, "standin-wide", NULL);
	if (as_nobody(read_without_pause, &argument))
		errx(1, "The measurement of the default budget failed.");
	ret->default_budget_us = quantile(us[0], READS, 0.5);
	daemon_stop(&daemon);
}
