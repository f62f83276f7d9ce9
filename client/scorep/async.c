/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore_async_plugin: a thread of its own takes readings at regular times, in one process of each
 * node. Score-P takes them at the end, for traces only. A reading that fails is left out.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/scorep/plugin.h"
#include "common/macro.h"
#include "common/number.h"

enum { ROWS_MAX = 1 << 16, INTERVAL_MS = 100, INTERVAL_MAX_MS = 3600000 };

/* A row is a time by Score-P's clock, and the value of each metric then. */
static struct {
	uint64_t (*clock)(void);
	uint64_t *rows;
	size_t n_rows;
	uint64_t interval_ms;
	pthread_t thread;
	bool is_running;
} sampler;

struct plugin plugin = { .name = "uncore_async_plugin" };

static size_t row_length(void)
{
	return (size_t)plugin.n_chosen + 1;
}

static uint64_t *row_at(size_t at)
{
	return &sampler.rows[at * row_length()];
}

/* Values are totals, so no bytes are lost with a row. */
static void drop_every_second_row(void)
{
	for (size_t at = 0; at < ROWS_MAX / 2; at++)
		memmove(row_at(at), row_at(2 * at), row_length() * sizeof *sampler.rows);
	sampler.n_rows = ROWS_MAX / 2;
	sampler.interval_ms *= 2;
}

static void async_take_row(void)
{
	const uint64_t before = sampler.clock();
	uint64_t *row;

	if (!plugin_take())
		return;
	if (sampler.n_rows == ROWS_MAX)
		drop_every_second_row();
	row = row_at(sampler.n_rows++);
	*row = before + (sampler.clock() - before) / 2;
	for (int32_t id = 0; id < plugin.n_chosen; id++)
		row[id + 1] = plugin_value(id);
}

/* It can be ended while it sleeps. */
static void *take_rows(void *unused)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	for (;;) {
		const struct timespec pause = { (time_t)(sampler.interval_ms / 1000),
			(long)(sampler.interval_ms % 1000) * 1000000 };

		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
		nanosleep(&pause, NULL);
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		async_take_row();
	}
	return unused;
}

/* The program's signals are for its own threads. */
static void async_start(void)
{
	sigset_t all, before;
	int r = ENOMEM;

	sampler.rows = calloc(ROWS_MAX, row_length() * sizeof *sampler.rows);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (sampler.rows) {
		async_take_row();
		r = pthread_create(&sampler.thread, NULL, take_rows, NULL);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	sampler.is_running = r == 0;
	if (r != 0)
		fprintf(stderr, "%s: nothing is recorded: %s.\n", plugin.name, strerror(r));
}

static void async_end(void)
{
	if (!plugin.is_recording || !sampler.is_running)
		return;
	sampler.is_running = false;
	pthread_cancel(sampler.thread);
	pthread_join(sampler.thread, NULL);
	async_take_row();
}

/* Score-P decides which process of the node records; of an MPI program, at the end of MPI_Init(). A
 * child that was forked has no thread to end. */
static void synchronize(bool records, uint32_t when)
{
	if (when == SCOREP_END) {
		async_end();
		return;
	}
	plugin.is_recording = records;
	if (records && !sampler.rows)
		async_start();
}

static uint64_t async_read_all(int32_t id, struct scorep_pair **ret_pairs)
{
	const size_t n = plugin.is_recording ? sampler.n_rows : 0;
	struct scorep_pair *pairs = calloc(n + 1, sizeof *pairs);

	*ret_pairs = pairs;
	if (!pairs)
		return 0;
	for (size_t at = 0; at < n; at++)
		pairs[at] = (struct scorep_pair){ row_at(at)[0], row_at(at)[id + 1] };
	return n;
}

static void take_clock(uint64_t (*clock)(void))
{
	sampler.clock = clock;
}

static int32_t async_initialize(void)
{
	const char *text = secure_getenv("UNCORE_SCOREP_INTERVAL");

	sampler.interval_ms = INTERVAL_MS;
	if (text && (!number_parse_whole(text, 10, INTERVAL_MAX_MS, &sampler.interval_ms) ||
			    sampler.interval_ms == 0)) {
		fprintf(stderr,
			"%s: nothing is recorded: UNCORE_SCOREP_INTERVAL=%s is not a number "
			"of milliseconds from 1 to %d.\n",
			plugin.name, text, INTERVAL_MAX_MS);
		return -1;
	}
	return plugin_initialize();
}

static void async_finalize(void)
{
	async_end();
	free(take_ptr(sampler.rows));
	sampler.n_rows = 0;
	plugin_finalize();
}

_public_ struct scorep_plugin SCOREP_MetricPlugin_uncore_async_plugin_get_info(void);

_public_ struct scorep_plugin SCOREP_MetricPlugin_uncore_async_plugin_get_info(void)
{
	return (struct scorep_plugin){
		.interface = SCOREP_INTERFACE,
		.recorder = SCOREP_PER_HOST,
		.timing = SCOREP_ASYNCHRONOUS,
		.initialize = async_initialize,
		.finalize = async_finalize,
		.list = plugin_list,
		.add = plugin_add,
		.take_clock = take_clock,
		.read_all = async_read_all,
		.synchronize = synchronize,
	};
}
