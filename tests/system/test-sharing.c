/* SPDX-License-Identifier: BSD-3-Clause */
/* All who wait share one sweep: 64 clients that ring together cost two sweeps at most. */
#include "tests/system/daemon-process.h"
#include "tests/test.h"

#include <pthread.h>
#include <stdio.h>

#include "client/uncore.h"

enum { CLIENTS = 64, ROUNDS = 200 };

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

/* How many rounds cost more than two sweeps: the first, where nobody knows yet that it is a crowd,
 * and those in which the scheduler tore the clients apart, so that they did not ring together. */
static unsigned count_dear_rounds(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		n += sweeps_at[i + 1] - sweeps_at[i] > 2;
	return n;
}

static int ring_together(void *argument)
{
	struct client clients[CLIENTS] = {};
	pthread_t threads[CLIENTS];
	pthread_barrier_t barrier;
	unsigned n_dear;
	int bad = 0;

	(void)argument;
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
	n_dear = count_dear_rounds();
	printf("# %.2f sweeps per round of %u clients, %u of %u rounds over 2\n",
		(double)(sweeps_at[ROUNDS] - sweeps_at[0]) / ROUNDS, CLIENTS, n_dear, ROUNDS);
	fflush(stdout);
	for (unsigned i = 0; i < CLIENTS; i++)
		uncore_close(clients[i].uncore);
	return bad || sweeps_at[ROUNDS] - sweeps_at[0] < ROUNDS || n_dear > ROUNDS / 4;
}

static void sixty_four_clients_share_sweeps(void **state)
{
	(void)state;
	assert_int_equal(as_nobody(ring_together, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("64 clients ringing together cost at most 2 sweeps in 3 of 4 rounds",
			sixty_four_clients_share_sweeps),
	};

	return run_on_daemon("sharing", "standin", "[reader]\nbudget_percent = 100\n", cases,
		sizeof cases / sizeof *cases);
}
