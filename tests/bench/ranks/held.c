/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a begin and an end cost that take no reading: no system call, either. Another member of the
 * team holds the region open, or passages are short.
 */
#include "tests/bench/ranks/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"

#define TRACE "/dev/shm/uncored-bench-trace"

enum { PASSES = 200000, BATCHES = 101, TIMEOUT_S = 60 };

struct held {
	struct gate gate;
	const char *socket_path;
	unsigned n_others; /* regions of the team beside this one */
	bool is_alone;     /* without a team */
	bool is_traced;    /* UNCORE_TRACE */
	unsigned is_over;
	double ns[BATCHES]; /* of a begin and an end */
};

static void be_member(const struct held *held)
{
	setenv("UNCORE_SOCKET", held->socket_path, 1);
	if (!held->is_alone)
		setenv("UNCORE_TEAM", "held", 1);
	setenv("UNCORE_REPORT", "/dev/null", 1);
}

static int hold(void *argument)
{
	struct held *held = argument;

	be_member(held);
	uncore_region_begin("step");
	if (!gate_wait(&held->gate))
		return 1;
	while (!__atomic_load_n(&held->is_over, __ATOMIC_RELAXED))
		usleep(1000);
	uncore_region_end("step");
	return 0;
}

static void pass_others(unsigned n)
{
	char name[24];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof name, "other %u", i);
		uncore_region_begin(name);
		uncore_region_end(name);
	}
}

static double batch_ns(unsigned n)
{
	uint64_t begin_ns = clock_now_ns();

	for (unsigned i = 0; i < n; i++) {
		uncore_region_begin("step");
		uncore_region_end("step");
	}
	return (double)(clock_now_ns() - begin_ns) / n;
}

static int pass(void *argument)
{
	struct held *held = argument;

	be_member(held);
	if (held->is_traced)
		setenv("UNCORE_TRACE", TRACE, 1);
	pass_others(held->n_others);
	uncore_region_begin("step");
	uncore_region_end("step");
	if (!gate_wait(&held->gate))
		return 1;
	for (int i = 0; i < BATCHES; i++)
		held->ns[i] = batch_ns(PASSES / BATCHES);
	__atomic_store_n(&held->is_over, 1, __ATOMIC_RELAXED);
	return 0;
}

static void measure(const struct held *wish, double most_ns)
{
	struct held *held = shared_memory(sizeof *held);
	struct batch_processes batch = { .n = 0 };
	struct daemon_process daemon = {};
	struct usage before, spent;

	daemon_start(&daemon, "standin-wide", NULL);
	*held = *wish;
	held->socket_path = daemon.socket_path;
	batch_add(&batch, NOBODY, hold, held);
	usleep(100000);
	batch_add(&batch, NOBODY, pass, held);
	gate_open(&held->gate, 2, 0);
	before = usage_now(&daemon);
	batch_wait(&batch, TIMEOUT_S);
	spent = usage_since(&daemon, &before);
	daemon_stop(&daemon);
	unlink(TRACE);
	figure_add(&(struct figure){ "pair_ns", "begin + end, median", "ns",
		quantile(held->ns, BATCHES, 0.5), most_ns });
	figure_add(&(struct figure){ "p99_ns", "begin + end, 99 % of the batches", "ns",
		quantile(held->ns, BATCHES, 0.99), NAN });
	figure_add(&(struct figure){ "sweeps_per_1000", "sweeps for each 1000 of both", "",
		(double)spent.sweeps * 1e3 / PASSES, NAN });
}

void team_held(void)
{
	measure(&(struct held){ .n_others = 0 }, 200);
}

void team_held_999(void)
{
	measure(&(struct held){ .n_others = 998 }, 200);
}

void pair_alone(void)
{
	measure(&(struct held){ .is_alone = true }, 120);
}

void pair_alone_999(void)
{
	measure(&(struct held){ .is_alone = true, .n_others = 998 }, 120);
}

void team_held_traced(void)
{
	measure(&(struct held){ .is_traced = true }, 300);
}
