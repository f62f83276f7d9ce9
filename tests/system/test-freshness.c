/* SPDX-License-Identifier: BSD-3-Clause */
/* No fresh read ever returns a sweep that began before the call, however many read at once. */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"

enum { THREADS = 8, READS = 10000, REPORTS = 50 };

/* What one thread saw; it is read after the thread has ended. */
struct thread_result {
	struct uncore *uncore;
	unsigned socket;
	uint64_t n_stale; /* the sweep began before the call */
	uint64_t n_false; /* its times cannot be true */
	uint64_t n_back;  /* the sweep is older than one seen before */
	int error;
};

static void *read_again_and_again(void *argument)
{
	struct thread_result *result = argument;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	uint64_t last_sweep = 0;

	for (unsigned i = 0; i < READS && !result->error; i++) {
		uint64_t called_ns = clock_now_ns();

		result->error = uncore_read(result->uncore, result->socket, UNCORE_FRESH, &sample);
		result->n_stale += sample.begin_ns < called_ns;
		/* A time stamp that is not between call and return proves nothing. */
		result->n_false +=
			sample.end_ns < sample.begin_ns || sample.end_ns > clock_now_ns();
		result->n_back += sample.sweep < last_sweep;
		last_sweep = sample.sweep;
	}
	return NULL;
}

/*
 * Asks for reports of readers and boxes, and connects and leaves, so that the daemon's main thread
 * is busy while the readers sweep. Returns 0 or the error.
 */
static int ask_for_reports(void)
{
	int r = 0;

	for (unsigned i = 0; i < REPORTS && r == 0; i++) {
		_cleanup_free_ char *report = NULL;
		struct uncore *another = NULL;

		r = uncore_info(the_daemon.socket_path, &report);
		if (r == 0 && !strstr(report, "\"mode\""))
			r = -EBADMSG;
		if (r == 0)
			r = uncore_open(the_daemon.socket_path, &another);
		uncore_close(another);
	}
	return r;
}

static int read_from_many_threads(void *argument)
{
	struct thread_result results[THREADS] = {};
	pthread_t threads[THREADS];
	struct uncore *uncore;
	int bad = 0;

	if (uncore_open(the_daemon.socket_path, &uncore) < 0)
		return 1;
	uncore_set_timeout(uncore, 5000000000U); /* the machine may be busy; late is not stale */
	for (unsigned i = 0; i < THREADS; i++) {
		results[i].uncore = uncore;
		results[i].socket = i % standin_sockets();
		pthread_create(&threads[i], NULL, read_again_and_again, &results[i]);
	}
	bad = ask_for_reports();
	if (bad)
		printf("# no report, or no second handle: %s\n", uncore_error_text());
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		if (!results[i].error && !results[i].n_stale && !results[i].n_back &&
			!results[i].n_false)
			continue;
		printf("# thread %u: error %d, %" PRIu64 " stale, %" PRIu64 " false, %" PRIu64
		       " back\n",
			i, results[i].error, results[i].n_stale, results[i].n_false,
			results[i].n_back);
		bad = 1;
	}
	fflush(stdout);
	uncore_close(uncore);
	return bad;
}

CASE("8 threads x 10,000 fresh reads, reports meanwhile: no sweep began before its call")
{
	assert_int_equal(as_nobody(read_from_many_threads, NULL), 0);
}

static int count_cached_sweeps(void *argument)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;
	uint64_t first;

	if (uncore_open(the_daemon.socket_path, &uncore) < 0 ||
		uncore_read(uncore, 0, UNCORE_CACHED, &sample) < 0)
		return 1;
	first = sample.sweep;
	for (unsigned i = 0; i < READS; i++)
		if (uncore_read(uncore, 0, UNCORE_CACHED, &sample) < 0)
			return 1;
	uncore_close(uncore);
	return sample.sweep != first;
}

CASE("cached reads cost no sweep")
{
	assert_int_equal(as_nobody(count_cached_sweeps, NULL), 0);
}

#ifndef __SANITIZE_THREAD__

/* In this mode the kernel ends a process that makes any system call but read, write and exit. */
static int read_cached_without_system_calls(void *argument)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;
	int failed = 0;

	if (uncore_open(the_daemon.socket_path, &uncore) < 0 ||
		uncore_read(uncore, 0, UNCORE_CACHED, &sample) < 0)
		return 1;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) < 0)
		return 2;
	for (unsigned i = 0; i < READS; i++)
		failed |= uncore_read(uncore, 0, UNCORE_CACHED, &sample) < 0;
	syscall(SYS_exit, failed);
	return 3;
}

CASE("cached reads make no system call")
{
	assert_int_equal(as_nobody(read_cached_without_system_calls, NULL), 0);
}

#endif

int main(void)
{
	/* This suite does not test the limits; 80,000 reads would take long within 10 %. */
	return run_on_daemon("standin",
		"[server]\nrequests_per_second = 10000\n[reader]\nbudget_percent = 100\n");
}
