/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/bench/ranks/bench.h"

#include <err.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

enum { READY_S = 60, LIFE_S = 180, LOOK_US = 2000, LEAD_MS = 20, FIRST_USER = 1049576 };

/* --- the gate --- */

bool gate_wait(struct gate *gate)
{
	struct timespec start;
	uint64_t start_ns;

	__atomic_add_fetch(&gate->n_ready, 1, __ATOMIC_SEQ_CST);
	while (!(start_ns = __atomic_load_n(&gate->start_ns, __ATOMIC_ACQUIRE)))
		usleep(LOOK_US);
	start.tv_sec = (time_t)(start_ns / 1000000000);
	start.tv_nsec = (long)(start_ns % 1000000000);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &start, NULL);
	return start_ns != UINT64_MAX;
}

void gate_open(struct gate *gate, unsigned n, double seconds)
{
	uint64_t limit_ns = clock_now_ns() + READY_S * UINT64_C(1000000000);
	uint64_t start_ns;

	while (__atomic_load_n(&gate->n_ready, __ATOMIC_SEQ_CST) < n) {
		if (clock_now_ns() > limit_ns)
			errx(1, "Only %u of %u processes came to the start.", gate->n_ready, n);
		usleep(LOOK_US);
	}
	start_ns = clock_now_ns() + LEAD_MS * UINT64_C(1000000);
	gate->end_ns = start_ns + (uint64_t)(seconds * 1e9);
	__atomic_store_n(&gate->start_ns, start_ns, __ATOMIC_RELEASE);
}

/* --- processes --- */

struct member {
	int (*body)(void *argument);
	void *argument;
};

static int run_member(void *argument)
{
	const struct member *member = argument;

	alarm(LIFE_S);
	return member->body(member->argument);
}

void batch_add(
	struct batch_processes *batch, uid_t uid, int (*body)(void *argument), void *argument)
{
	struct member member = { body, argument };

	batch->pids[batch->n++] = start_as(uid, run_member, &member);
}

void batch_wait(struct batch_processes *batch, int timeout_s)
{
	uint64_t limit_ns = clock_now_ns() + (uint64_t)timeout_s * 1000000000;
	unsigned n_bad = 0;

	for (unsigned i = 0; i < batch->n; i++) {
		uint64_t now_ns = clock_now_ns();
		int left_s = now_ns < limit_ns ? (int)((limit_ns - now_ns) / 1000000000) : 0;

		n_bad += wait_for(batch->pids[i], left_s + 1) != 0;
	}
	if (n_bad)
		warnx("%u of %u processes did not come to their end.", n_bad, batch->n);
	batch->n = 0;
}

uid_t user_number(unsigned i)
{
	return FIRST_USER + i;
}
