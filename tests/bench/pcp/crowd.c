/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many clients at once: each is a process with a context of its own, and all ask for the same in
 * the same moment. The kinds take turns here, too.
 */
#include "tests/bench/pcp/bench.h"

#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>

#include "tests/system/daemon-process.h"

enum { ROUNDS = 60, CLIENT_TIMEOUT_S = 60 };

/* What the processes of a crowd share. */
struct crowd {
	pthread_barrier_t barrier;
	const char *uncored_socket;
	double us[KINDS][CROWD * ROUNDS];
};

struct member {
	struct crowd *crowd;
	unsigned index;
};

static int fetch_in_rounds(void *argument)
{
	struct member *member = argument;
	struct crowd *crowd = member->crowd;
	struct client client;
	enum kind order[KINDS];

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* one that fails leaves the others at the barrier */
	client_open(&client, crowd->uncored_socket);
	for (unsigned i = 0; i < ROUNDS; i++) {
		shuffle_kinds(order);
		for (int k = 0; k < KINDS; k++) {
			if (order[k] == FRESH_AGAIN) /* in a crowd they all are */
				continue;
			pthread_barrier_wait(&crowd->barrier);
			crowd->us[order[k]][member->index * ROUNDS + i] =
				client_time_us(&client, order[k]);
		}
	}
	client_close(&client);
	return 0;
}

static void run_crowd(struct crowd *crowd)
{
	pthread_barrierattr_t attr;
	pid_t pids[CROWD];

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&crowd->barrier, &attr, CROWD);
	for (unsigned i = 0; i < CROWD; i++) {
		struct member member = { crowd, i };

		pids[i] = start_as_nobody(fetch_in_rounds, &member);
	}
	for (unsigned i = 0; i < CROWD; i++)
		if (wait_for(pids[i], CLIENT_TIMEOUT_S))
			errx(1, "A client of %u failed.", CROWD);
	pthread_barrier_destroy(&crowd->barrier);
}

void measure_crowd(const char *uncored_socket, struct figures *ret)
{
	struct crowd *crowd = shared_memory(sizeof *crowd);

	crowd->uncored_socket = uncored_socket;
	run_crowd(crowd);
	for (int kind = 0; kind < KINDS; kind++)
		if (kind != FRESH_AGAIN)
			ret->crowd[kind] = spread_of(crowd->us[kind], CROWD * ROUNDS);
}
