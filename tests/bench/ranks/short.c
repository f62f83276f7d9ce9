/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What regions cost whose passages are short: the wall time of a loop with them over that without,
 * as the median of pairs in turns. The body counts, so that it takes longer if something takes its
 * CPU.
 */
#include "tests/bench/ranks/bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"

enum { PAIRS = 15, BARE_MS = 500, TIMEOUT_S = 120, SAVE_UP_US = 2100000, RANKS = 16 };

struct loop {
	const char *socket_path;
	const char *team; /* NULL: each rank is alone */
	unsigned n_ranks;
	unsigned body_us, between_us; /* CPU time inside of the region, and after it */
	bool has_barrier;             /* after each passage */
	bool alternates;              /* with a second region, as a wrapper of MPI's calls does */
	double most;                  /* the goal */
};

struct shared {
	struct loop loop;
	struct gate gate;
	pthread_barrier_t barrier;
	double turns_per_us; /* of burn() on one CPU */
	bool is_measured;    /* this time with regions */
	unsigned n_passages;
	struct calls calls;
	uint64_t ended_ns;
};

static void burn(double turns)
{
	for (volatile double i = 0; i < turns; i = i + 1)
		;
}

/* The quickest of some, because others take CPU time. */
static double turns_per_us(void)
{
	enum { TURNS = 1000000, TRIES = 10 };
	uint64_t quickest_ns = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t begin_ns = clock_now_ns(), ns;

		burn(TURNS);
		ns = clock_now_ns() - begin_ns;
		quickest_ns = ns < quickest_ns ? ns : quickest_ns;
	}
	return TURNS * 1e3 / (double)quickest_ns;
}

static void enter(struct shared *shared, const char *left, const char *name)
{
	if (shared->is_measured)
		calls_count(&shared->calls,
			left ? uncore_region_next(left, name) : uncore_region_begin(name));
}

static void leave(struct shared *shared, const char *name)
{
	if (shared->is_measured)
		calls_count(&shared->calls, uncore_region_end(name));
}

static void pass(struct shared *shared)
{
	const struct loop *loop = &shared->loop;

	burn(loop->body_us * shared->turns_per_us);
	if (loop->alternates)
		enter(shared, "step", "MPI");
	else
		leave(shared, "step");
	burn(loop->between_us * shared->turns_per_us);
	if (loop->has_barrier)
		pthread_barrier_wait(&shared->barrier);
	enter(shared, loop->alternates ? "MPI" : NULL, "step");
}

static int run_rank(void *argument)
{
	struct shared *shared = argument;

	setenv("UNCORE_SOCKET", shared->loop.socket_path, 1);
	setenv("UNCORE_REPORT", "/dev/null", 1);
	if (shared->loop.team)
		setenv("UNCORE_TEAM", shared->loop.team, 1);
	enter(shared, NULL, "step");
	usleep(SAVE_UP_US);
	if (!gate_wait(&shared->gate))
		return 1;
	for (unsigned i = 0; i < shared->n_passages; i++)
		pass(shared);
	leave(shared, "step");
	__atomic_store_n(&shared->ended_ns, clock_now_ns(), __ATOMIC_RELAXED);
	return 0;
}

static double wall_s(struct shared *shared, bool is_measured)
{
	struct batch_processes batch = { .n = 0 };

	shared->is_measured = is_measured;
	shared->gate = (struct gate){};
	for (unsigned i = 0; i < shared->loop.n_ranks; i++)
		batch_add(&batch, NOBODY, run_rank, shared);
	gate_open(&shared->gate, shared->loop.n_ranks, 0);
	batch_wait(&batch, TIMEOUT_S);
	return (double)(shared->ended_ns - shared->gate.start_ns) / 1e9;
}

static void init_barrier(struct shared *shared)
{
	pthread_barrierattr_t attributes;

	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->barrier, &attributes, shared->loop.n_ranks);
}

static void measure(const struct loop *loop)
{
	struct shared *shared = shared_memory(sizeof *shared);
	double ratios[PAIRS], bare_s[PAIRS];
	struct daemon_process daemon = {};

	daemon_start(&daemon, "standin-wide", NULL);
	shared->loop = *loop;
	shared->loop.socket_path = daemon.socket_path;
	shared->turns_per_us = turns_per_us();
	shared->n_passages = BARE_MS * 1000 / (loop->body_us + loop->between_us) * SOCKETS /
			     (loop->n_ranks < SOCKETS ? SOCKETS : loop->n_ranks);
	init_barrier(shared);
	for (int i = 0; i < PAIRS; i++) {
		bare_s[i] = wall_s(shared, false);
		ratios[i] = wall_s(shared, true) / bare_s[i];
	}
	daemon_stop(&daemon);
	figure_add(&(struct figure){
		"bare_s", "wall without regions", "s", quantile(bare_s, PAIRS, 0.5), NAN });
	figure_add(&(struct figure){
		"ratio", "wall / that", "x", quantile(ratios, PAIRS, 0.5), loop->most });
	figure_add(&(struct figure){
		"ratio_high", "upper quartile of that", "x", quantile(ratios, PAIRS, 0.75), NAN });
	calls_show(&shared->calls, "begins and ends of regions");
}

void short_8us(void)
{
	measure(&(struct loop){ .n_ranks = 1, .body_us = 8, .most = 1.04 });
}

void short_21us(void)
{
	measure(&(struct loop){ .n_ranks = 1, .body_us = 21, .most = 1.03 });
}

void short_barrier(void)
{
	measure(&(struct loop){ .team = "barrier",
		.n_ranks = RANKS,
		.body_us = 100,
		.has_barrier = true,
		.most = NAN });
}

void wrapper(void)
{
	measure(&(struct loop){ .team = "wrapper",
		.n_ranks = SOCKETS,
		.body_us = 40,
		.between_us = 10,
		.alternates = true,
		.most = 1.05 });
}
