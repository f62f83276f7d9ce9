/* SPDX-License-Identifier: BSD-3-Clause */
/* All waiters share one sweep. uncored stands still while 64 clients ring, so that all of them have
 * rung when it goes on. */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"

enum { CLIENTS = 64, ROUNDS = 10, LOOK_US = 1000 };
#define PATIENCE_NS 300000000000U

struct client {
	struct uncore *uncore;
	_Atomic pid_t tid; /* while it reads */
	pthread_t thread;
	int error;
};

static struct client clients[CLIENTS];

static void *read_fresh(void *argument)
{
	struct client *client = argument;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	client->tid = gettid();
	client->error = uncore_read(client->uncore, 0, UNCORE_FRESH, &sample);
	return NULL;
}

/* The third word of stat is the state, behind a name in brackets: 'S' sleeps, 'T' is stopped. */
static char state_of(pid_t pid, pid_t tid)
{
	char path[64], state = 0;
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	return state;
}

static void stop_daemon(void)
{
	kill(the_daemon.pid, SIGSTOP);
	while (state_of(the_daemon.pid, the_daemon.pid) != 'T')
		usleep(LOOK_US);
}

/* A reading thread does not sleep before it has rung. */
static void wait_until_rung(const struct client *client)
{
	while (!client->tid || state_of(getpid(), client->tid) != 'S')
		usleep(LOOK_US);
}

static uint64_t sweeps_so_far(void)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	assert_int_equal(uncore_read(clients[0].uncore, 0, UNCORE_CACHED, &sample), 0);
	return sample.sweep;
}

/* What all of them cost. */
static uint64_t ring_together(void)
{
	uint64_t before;

	stop_daemon();
	before = sweeps_so_far();
	for (unsigned i = 0; i < CLIENTS; i++) {
		clients[i].tid = 0;
		pthread_create(&clients[i].thread, NULL, read_fresh, &clients[i]);
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		wait_until_rung(&clients[i]);
	kill(the_daemon.pid, SIGCONT);
	for (unsigned i = 0; i < CLIENTS; i++) {
		pthread_join(clients[i].thread, NULL);
		assert_int_equal(clients[i].error, 0);
	}
	return sweeps_so_far() - before;
}

/* The second one is for what may have rung before the stop. */
CASE("64 clients that ring before uncored sweeps cost 2 sweeps at most")
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		assert_int_equal(uncore_open(the_daemon.socket_path, &clients[i].uncore), 0);
		uncore_set_timeout(clients[i].uncore, PATIENCE_NS);
	}
	for (unsigned i = 0; i < ROUNDS; i++)
		assert_in_range(ring_together(), 1, 2);
	for (unsigned i = 0; i < CLIENTS; i++)
		uncore_close(clients[i].uncore);
}

int main(void)
{
	return run_on_daemon("standin", "[reader]\nbudget_percent = 100\n");
}
