/* SPDX-License-Identifier: BSD-3-Clause */
/* All waiters share one sweep: 64 clients that ring together cost two sweeps at most. */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "client/libuncore/uncore.h"

enum { SHARED, FAILED, TORN_APART };
enum { CLIENTS = 64, ROUNDS = 50, BATCHES = 60 };

struct client {
	struct uncore *uncore;
	pthread_barrier_t *barrier;
	int error;
};

/* Sweeps of each round; written by the first client between two barriers. */
static uint64_t sweeps_at[ROUNDS + 1];

static uint64_t sweeps_so_far(struct uncore *uncore)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	return uncore_read(uncore, 0, UNCORE_CACHED, &sample) < 0 ? 0 : sample.sweep;
}

static void *read_each_round(void *argument)
{
	struct client *client = argument;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	for (unsigned i = 0; i < ROUNDS; i++) {
		if (pthread_barrier_wait(client->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			sweeps_at[i] = sweeps_so_far(client->uncore);
		pthread_barrier_wait(client->barrier);
		if (uncore_read(client->uncore, 0, UNCORE_FRESH, &sample) < 0)
			client->error = 1;
	}
	return NULL;
}

static int open_clients(struct client clients[], pthread_barrier_t *barrier)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		clients[i].barrier = barrier;
		if (uncore_open(the_daemon.socket_path, &clients[i].uncore) < 0)
			return -1;
		uncore_set_timeout(clients[i].uncore, 5000000000U);
	}
	return 0;
}

/* The first round does not count: the reader cannot know yet that it is a batch. */
static uint64_t most_sweeps_of_a_round(void)
{
	uint64_t most = 0;

	for (unsigned i = 1; i < ROUNDS; i++)
		if (sweeps_at[i + 1] - sweeps_at[i] > most)
			most = sweeps_at[i + 1] - sweeps_at[i];
	return most;
}

static int ring_together(void *argument)
{
	struct client clients[CLIENTS] = {};
	pthread_t threads[CLIENTS];
	pthread_barrier_t barrier;
	uint64_t most;
	int bad = 0;

	pthread_barrier_init(&barrier, NULL, CLIENTS);
	if (open_clients(clients, &barrier) < 0)
		return 1;
	for (unsigned i = 0; i < CLIENTS; i++)
		pthread_create(&threads[i], NULL, read_each_round, &clients[i]);
	for (unsigned i = 0; i < CLIENTS; i++) {
		pthread_join(threads[i], NULL);
		bad |= clients[i].error;
	}
	sweeps_at[ROUNDS] = sweeps_so_far(clients[0].uncore);
	most = most_sweeps_of_a_round();
	printf("# %.2f sweeps per round of %u clients, at most %" PRIu64 "\n",
		(double)(sweeps_at[ROUNDS] - sweeps_at[1]) / (ROUNDS - 1), CLIENTS, most);
	fflush(stdout);
	for (unsigned i = 0; i < CLIENTS; i++)
		uncore_close(clients[i].uncore);
	if (bad || sweeps_at[ROUNDS] - sweeps_at[1] < ROUNDS - 1)
		return FAILED;
	return most <= 2 ? SHARED : TORN_APART;
}

/*
 * Clients that the scheduler tears apart do not ring together, and this machine may be busy. So
 * there are some batches, and in one of them no round may cost more than two sweeps.
 */
static void sixty_four_clients_share_sweeps(void **state)
{
	int result = TORN_APART;

	for (unsigned i = 0; i < BATCHES && result == TORN_APART; i++)
		result = as_nobody(ring_together, NULL);
	assert_int_equal(result, SHARED);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("64 clients ringing together cost at most 2 sweeps a round",
			sixty_four_clients_share_sweeps),
	};

	return run_on_daemon("sharing", "standin", "[reader]\nbudget_percent = 100\n", cases,
		sizeof cases / sizeof *cases);
}
