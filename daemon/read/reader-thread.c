/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread of a reader. In each turn it sleeps until somebody rings, admits claims, waits for the
 * rest of a batch, makes a sweep, wakes the waiters of the answered users, and charges these users.
 */
#include "daemon/read/reader.h"

#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "common/clock.h"
#include "daemon/base/privilege.h"
#include "daemon/read/batch.h"
#include "daemon/read/claims.h"

static const uint64_t REST_EVERY_NS = 1000000000;

enum {
	STACK_BYTES = 128 * 1024,
	SPIN_SWEEP_NS = 100000, /* a sweep that is short enough to spin for */
	SPIN_MAX_NS = 200000,
	REST_NS = 50000,   /* a shorter rest may be over before it begins */
	GATHER_NS = 20000, /* a moment for others to ring */
};

/* --- placement --- */

static void follow_counters(struct reader *reader)
{
	if (affinity_follow(&reader->options.affinity, sweep_last(&reader->sweep)->end_ns))
		sweep_tell_cpu(&reader->sweep, reader->options.affinity.cpu);
}

/* --- answers --- */

/* Waits for the rest of a batch. */
static void reader_gather(struct reader *reader)
{
	const struct timespec moment = { .tv_nsec = GATHER_NS };
	struct doorbells *doorbells = &reader->doorbells;
	bool quiet = false;

	pthread_mutex_lock(&reader->doorbells.lock);
	for (unsigned i = 0; i < batch_moments(doorbells); i++) {
		pthread_mutex_unlock(&reader->doorbells.lock);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
		doorbells_wait(doorbells, 0);
		pthread_mutex_lock(&reader->doorbells.lock);
		quiet = doorbells->n_events <= 0;
		reader->has_order |= doorbells_note(doorbells, clock_now_ns());
	}
	if (quiet)
		batch_note_quiet(doorbells);
	pthread_mutex_unlock(&reader->doorbells.lock);
}

/* A few clients may spin while a short sweep runs: on an idle machine, waking them takes about as
 * long as the sweep. In a batch, or for long sweeps, waiters should sleep. */
static uint32_t spin_ns(const struct reader *reader)
{
	const struct page_sweep *last = sweep_last(&reader->sweep);
	uint64_t took_ns = last->end_ns - last->begin_ns;

	return took_ns < SPIN_SWEEP_NS ? SPIN_MAX_NS : 0;
}

/* Users with few waiters come first. The lock is free between two portions. */
static void wake_waiters(struct reader *reader)
{
	for (int many = 0; many <= 1; many++)
		for (unsigned i = 0; i < reader->doorbells.n_busy; i++) {
			pthread_mutex_lock(&reader->doorbells.lock);
			claims_wake(&reader->doorbells, i, many);
			pthread_mutex_unlock(&reader->doorbells.lock);
		}
}

/* All CPU time since the last call counts: a ring costs more than its sweep. */
static uint64_t cpu_time_spent(struct reader *reader)
{
	uint64_t before_ns = reader->cpu_ns;

	reader->cpu_ns = clock_thread_ns();
	return reader->cpu_ns - before_ns;
}

/* Ends a turn, with or without a sweep. */
static void reader_charge(struct reader *reader, bool swept)
{
	uint64_t cost_ns = cpu_time_spent(reader);

	pthread_mutex_lock(&reader->doorbells.lock);
	if (swept)
		reader_note_sweep(reader);
	reader->state.cpu_ns += cost_ns;
	claims_keep(&reader->doorbells, sweep_last(&reader->sweep));
	claims_charge(&reader->doorbells, swept ? sweep_last(&reader->sweep)->begin_ns : 0, cost_ns,
		clock_now_ns());
	page_tell_cost(reader->sweep.cell, reader->state.cpu_ns, reader->doorbells.throttled);
	pthread_mutex_unlock(&reader->doorbells.lock);
}

/* --- the thread --- */

/* The time until counters that saturate must be read even if nobody rings, in ns; -1: never. */
static int64_t sweep_due_ns(const struct reader *reader, uint64_t now_ns)
{
	uint64_t every_ns = reader->options.sweep_every_s * UINT64_C(1000000000);
	uint64_t since_ns = now_ns - sweep_last(&reader->sweep)->end_ns;

	if (!every_ns)
		return -1;
	return since_ns < every_ns ? (int64_t)(every_ns - since_ns) : 0;
}

static int64_t next_timeout_ns(struct reader *reader, uint64_t now_ns)
{
	int64_t claim_ns, sweep_ns = sweep_due_ns(reader, now_ns);

	pthread_mutex_lock(&reader->doorbells.lock);
	claim_ns = claims_due_ns(&reader->doorbells, now_ns);
	pthread_mutex_unlock(&reader->doorbells.lock);
	return claim_ns < 0 || (sweep_ns >= 0 && sweep_ns < claim_ns) ? sweep_ns : claim_ns;
}

static void reader_move_to_page(struct reader *reader, struct page_header *page)
{
	sweep_set_page(&reader->sweep, page);
	sweep_tell_cpu(&reader->sweep, reader->options.affinity.cpu);
	sweep_make(&reader->sweep);
	reader_charge(reader, true);
	pthread_mutex_lock(&reader->doorbells.lock);
	reader->next_page = NULL;
	pthread_cond_signal(&reader->carried_out);
	pthread_mutex_unlock(&reader->doorbells.lock);
}

/* False: it is time to stop. */
static bool carry_out_orders(struct reader *reader)
{
	struct page_header *next_page;
	bool stop;

	pthread_mutex_lock(&reader->doorbells.lock);
	next_page = reader->next_page;
	stop = reader->stop;
	pthread_mutex_unlock(&reader->doorbells.lock);
	if (next_page) {
		heartbeat_begin(&reader->heartbeat, "carrying out an order", clock_now_ns());
		reader_move_to_page(reader, next_page);
	}
	return !stop;
}

/* Notes the rings. True: a claim is admitted, so a sweep is to be made. */
static bool reader_admit_claims(struct reader *reader)
{
	uint64_t now_ns = clock_now_ns();
	bool admitted;

	pthread_mutex_lock(&reader->doorbells.lock);
	reader->has_order = doorbells_note(&reader->doorbells, now_ns);
	admitted = claims_admit(&reader->doorbells, now_ns);
	reader->sweep.tally.quanta = reader->options.rules.quanta;
	pthread_mutex_unlock(&reader->doorbells.lock);
	return admitted;
}

/* Makes one sweep for the admitted claims, and for all claims that can join them. */
static void reader_sweep_for_claims(struct reader *reader)
{
	reader_gather(reader);
	pthread_mutex_lock(&reader->doorbells.lock);
	claims_join(&reader->doorbells, clock_now_ns(), spin_ns(reader));
	pthread_mutex_unlock(&reader->doorbells.lock);
	sweep_make(&reader->sweep);
}

/* Waits for rings. The heartbeat is not busy meanwhile, until something is due. */
static void wait_for_rings(struct reader *reader)
{
	uint64_t now_ns = clock_now_ns();
	int64_t timeout_ns = next_timeout_ns(reader, now_ns);

	heartbeat_rest(&reader->heartbeat, timeout_ns < 0 ? 0 : now_ns + (uint64_t)timeout_ns);
	doorbells_wait(&reader->doorbells, timeout_ns);
	heartbeat_begin(&reader->heartbeat, "answering rings", clock_now_ns());
}

/*
 * With a budget of 100 % and rings without pause, the thread would never block. At real-time
 * priority it would look like a thread that loops, and LimitRTTIME= of the unit would kill it.
 */
static void reader_rest(struct reader *reader)
{
	const struct timespec moment = { .tv_nsec = REST_NS };
	uint64_t now_ns = sweep_last(&reader->sweep)->end_ns;

	if (now_ns - reader->rested_ns < REST_EVERY_NS)
		return;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
	reader->rested_ns = now_ns;
}

/* Waits for rings and answers them once. False: it is time to stop. */
static bool turn(struct reader *reader)
{
	bool swept = true;

	wait_for_rings(reader);
	if (reader_admit_claims(reader))
		reader_sweep_for_claims(reader);
	else if (sweep_due_ns(reader, clock_now_ns()) == 0)
		sweep_make(&reader->sweep);
	else
		swept = false;
	wake_waiters(reader);
	follow_counters(reader);
	reader_charge(reader, swept);
	reader_rest(reader);
	return !reader->has_order || carry_out_orders(reader);
}

static void *reader_run_thread(void *argument)
{
	struct reader *reader = argument;

	privilege_drop();
	/* for reader_gather(); real-time threads have no slack anyway */
	prctl(PR_SET_TIMERSLACK, 1);
	while (turn(reader))
		;
	return NULL;
}

/* The lowest real-time priority. It keeps the tail latency of fresh reads low while all CPUs are
 * busy. */
static bool ask_for_realtime(pthread_t thread)
{
	struct sched_param param = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };

	return pthread_setschedparam(thread, SCHED_FIFO, &param) == 0;
}

int reader_thread_start(struct reader *reader)
{
	pthread_attr_t attr;
	char name[16];
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	r = pthread_create(&reader->thread, &attr, reader_run_thread, reader);
	pthread_attr_destroy(&attr);
	if (r)
		return -r;
	reader->running = true;
	snprintf(name, sizeof name, "socket%u", reader->sweep.socket);
	pthread_setname_np(reader->thread, name);
	reader->state.pinned = reader->options.affinity.cpu < 0 ||
			       affinity_set(&reader->options.affinity, reader->thread);
	if (reader->options.realtime)
		reader->state.realtime = ask_for_realtime(reader->thread);
	return 0;
}
