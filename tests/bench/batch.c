/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many clients at once, like the ranks of a job behind a barrier: each is a process with a
 * connection of its own and reads both sockets. Measured on an idle machine, and with a process
 * that spins on each CPU.
 */
#include "tests/bench/bench.h"

#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"

enum { CLIENTS_MAX = 64, ROUNDS = 200, CPUS_MAX = 1024 };

/* Memory that the processes of a batch share. */
struct batch {
	pthread_barrier_t barrier;
	const char *socket_path;
	unsigned n;
	uint64_t sweeps_at[ROUNDS + 1]; /* of socket 0, before each round */
	double us[CLIENTS_MAX * ROUNDS];
};

struct member {
	struct batch *batch;
	unsigned index;
};

static uint64_t sweeps_so_far(const struct uncore *uncore)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	if (uncore_read(uncore, 0, UNCORE_CACHED, &sample) < 0)
		errx(1, "%s", uncore_error_text());
	return sample.sweep;
}

static int read_in_rounds(void *argument)
{
	struct member *member = argument;
	struct batch *batch = member->batch;
	struct uncore_sample samples[2] = { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT };
	struct uncore *uncore;

	if (uncore_open(batch->socket_path, &uncore) < 0)
		errx(1, "%s", uncore_error_text());
	uncore_set_timeout(uncore, 5000000000U);
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t begin_ns;

		pthread_barrier_wait(&batch->barrier);
		if (member->index == 0)
			batch->sweeps_at[i] = sweeps_so_far(uncore);
		pthread_barrier_wait(&batch->barrier);
		begin_ns = clock_now_ns();
		if (uncore_read_all(uncore, UNCORE_FRESH, samples, 2) < 0)
			errx(1, "%s", uncore_error_text());
		batch->us[member->index * ROUNDS + i] = (double)(clock_now_ns() - begin_ns) / 1e3;
	}
	pthread_barrier_wait(&batch->barrier);
	if (member->index == 0)
		batch->sweeps_at[ROUNDS] = sweeps_so_far(uncore);
	uncore_close(uncore);
	return 0;
}

static void run_batch(struct batch *batch, const char *socket_path, unsigned n)
{
	pthread_barrierattr_t attr;
	pid_t pids[CLIENTS_MAX];

	batch->socket_path = socket_path;
	batch->n = n;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&batch->barrier, &attr, n);
	for (unsigned i = 0; i < n; i++) {
		struct member member = { batch, i };

		pids[i] = start_as_nobody(read_in_rounds, &member);
	}
	for (unsigned i = 0; i < n; i++)
		if (wait_for(pids[i], 60))
			errx(1, "A client of %u failed.", n);
	pthread_barrier_destroy(&batch->barrier);
}

static unsigned start_spinners(pid_t ret_pids[CPUS_MAX])
{
	unsigned n = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);

	for (unsigned i = 0; i < n; i++) {
		ret_pids[i] = fork();
		if (ret_pids[i] < 0)
			err(1, "fork");
		if (ret_pids[i] == 0) {
			alarm(120);
			pin_to_cpu((int)i);
			for (;;)
				;
		}
	}
	return n;
}

static void stop_spinners(const pid_t pids[], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (unsigned i = 0; i < n; i++)
		waitpid(pids[i], NULL, 0);
}

static double sweeps_per_round(const struct batch *batch)
{
	double sweeps[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		sweeps[i] = (double)(batch->sweeps_at[i + 1] - batch->sweeps_at[i]);
	return quantile(sweeps, ROUNDS, 0.5);
}

static void add_spread(double us[], unsigned n_clients, const char *how)
{
	char key[32], what[64];

	snprintf(key, sizeof key, "%s_%u", how, n_clients);
	snprintf(what, sizeof what, "%u at once, %s machine", n_clients, how);
	figure_add_spread(key, what, us, n_clients * ROUNDS);
}

void measure_batches(const struct daemon_process *daemon)
{
	static const unsigned sizes[] = { 1, 8, CLIENTS_MAX };
	struct batch *batch = shared_memory(sizeof *batch);
	double sweeps = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		unsigned n_spinners;
		pid_t spinners[CPUS_MAX];

		run_batch(batch, daemon->socket_path, sizes[i]);
		add_spread(batch->us, sizes[i], "idle");
		sweeps = sweeps_per_round(batch);
		n_spinners = start_spinners(spinners);
		run_batch(batch, daemon->socket_path, sizes[i]);
		stop_spinners(spinners, n_spinners);
		add_spread(batch->us, sizes[i], "busy");
	}
	figure_add(&(struct figure){
		"sweeps_per_round_64", "sweeps per round of 64 clients", "", sweeps, 2 });
}
