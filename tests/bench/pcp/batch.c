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

#include "tests/harness/daemon-process.h"

enum { ROUNDS = 60, CLIENT_TIMEOUT_S = 60 };

/* Memory that the processes of a batch share. */
struct batch {
	pthread_barrier_t barrier;
	const char *uncored_socket;
	double us[KINDS][BATCH * ROUNDS];
};

struct member {
	struct batch *batch;
	unsigned index;
};

static int fetch_in_rounds(void *argument)
{
	struct member *member = argument;
	struct batch *batch = member->batch;
	struct client client;
	enum kind order[KINDS];

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a client that fails leaves the others at the barrier */
	client_open(&client, batch->uncored_socket);
	for (unsigned i = 0; i < ROUNDS; i++) {
		shuffle_kinds(order);
		for (int k = 0; k < KINDS; k++) {
			if (order[k] == FRESH_AGAIN) /* in a batch every read follows another */
				continue;
			pthread_barrier_wait(&batch->barrier);
			batch->us[order[k]][member->index * ROUNDS + i] =
				client_time_us(&client, order[k]);
		}
	}
	client_close(&client);
	return 0;
}

static void run_batch(struct batch *batch)
{
	pthread_barrierattr_t attr;
	pid_t pids[BATCH];

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&batch->barrier, &attr, BATCH);
	for (unsigned i = 0; i < BATCH; i++) {
		struct member member = { batch, i };

		pids[i] = start_as_nobody(fetch_in_rounds, &member);
	}
	for (unsigned i = 0; i < BATCH; i++)
		if (wait_for(pids[i], CLIENT_TIMEOUT_S))
			errx(1, "A client of %u failed.", BATCH);
	pthread_barrier_destroy(&batch->barrier);
}

void measure_batch(const char *uncored_socket)
{
	struct batch *batch = shared_memory(sizeof *batch);
	double *us[KINDS];

	batch->uncored_socket = uncored_socket;
	run_batch(batch);
	for (int kind = 0; kind < KINDS; kind++)
		us[kind] = batch->us[kind];
	figures_begin("clients_16", "16 clients at once, each");
	fetches_add(us, BATCH * ROUNDS);
}
