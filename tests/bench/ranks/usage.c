/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/bench/ranks/bench.h"

#include <dirent.h>
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/cpu-time.h"

static const uint64_t ANSWER_WITHIN_NS = 10000000000;

/* --- calls --- */

void calls_count(struct calls *calls, int r)
{
	__atomic_add_fetch(&calls->n, 1, __ATOMIC_RELAXED);
	if (r < 0)
		__atomic_add_fetch(
			&calls->failed[-r < ERRNOS ? -r : ERRNOS - 1], 1, __ATOMIC_RELAXED);
}

void calls_show(const struct calls *calls, const char *what)
{
	char text[96];
	uint64_t failed = 0;

	figure_add(&(struct figure){ "calls", what, "", (double)calls->n, NAN });
	for (int i = 0; i < ERRNOS; i++) {
		if (!calls->failed[i])
			continue;
		failed += calls->failed[i];
		snprintf(text, sizeof text, "  failed with %s", strerrorname_np(i));
		figure_add(&(struct figure){
			strerrorname_np(i), text, "", (double)calls->failed[i], NAN });
	}
	figure_add(&(struct figure){ "failed", "  failed", "", (double)failed, 0 });
}

/* --- CPU time --- */

static void add_thread(struct usage *usage, const struct daemon_process *daemon, const char *tid)
{
	char path[96], name[32] = "";
	const pid_t thread = atoi(tid);
	struct cpu_time time;
	unsigned socket;
	_cleanup_file_ FILE *comm = NULL;

	snprintf(path, sizeof path, "/proc/%d/task/%.16s/comm", daemon->pid, tid);
	comm = fopen(path, "re");
	if (!comm || !fgets(name, sizeof name, comm) || cpu_time(daemon->pid, thread, &time) < 0)
		return; /* the thread has ended meanwhile */
	if (thread == daemon->pid)
		usage->main_ns = time.ran_ns;
	else if (sscanf(name, "socket%u", &socket) == 1 && socket < SOCKETS)
		usage->reader_ns[socket] = time.ran_ns;
}

static void add_threads(struct usage *usage, const struct daemon_process *daemon)
{
	char path[64];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%d/task", daemon->pid);
	tasks = opendir(path);
	if (!tasks)
		err(1, "%s", path);
	while ((entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			add_thread(usage, daemon, entry->d_name);
	closedir(tasks);
}

struct usage usage_now(const struct daemon_process *daemon)
{
	struct uncore_daemon state = UNCORE_DAEMON_INIT;
	struct usage usage = { .at_ns = clock_now_ns() };
	struct uncore *uncore;

	if (uncore_open_within(daemon->socket_path, ANSWER_WITHIN_NS, &uncore) < 0 ||
		uncore_describe_daemon(uncore, &state) < 0)
		errx(1, "%s", uncore_error_text());
	uncore_close(uncore);
	usage.sweeps = state.sweeps;
	usage.throttled = state.throttled;
	add_threads(&usage, daemon);
	return usage;
}

struct usage usage_since(const struct daemon_process *daemon, const struct usage *before)
{
	struct usage now = usage_now(daemon);

	now.at_ns -= before->at_ns;
	now.sweeps -= before->sweeps;
	now.throttled -= before->throttled;
	now.main_ns -= before->main_ns;
	for (int i = 0; i < SOCKETS; i++)
		now.reader_ns[i] -= before->reader_ns[i];
	return now;
}

double usage_per_sweep_us(const struct usage *spent)
{
	uint64_t sum_ns = 0;

	for (int i = 0; i < SOCKETS; i++)
		sum_ns += spent->reader_ns[i];
	return spent->sweeps ? (double)sum_ns / 1e3 / (double)spent->sweeps : 0;
}

void usage_show(const struct usage *spent)
{
	figure_add(&(struct figure){
		"sweeps", "sweeps of all sockets", "", (double)spent->sweeps, NAN });
	figure_add(&(struct figure){
		"throttled", "rings that had to wait", "", (double)spent->throttled, NAN });
	figure_add(&(struct figure){ "sweep_cpu_us", "CPU time of a sweep with its wakes", "us",
		usage_per_sweep_us(spent), NAN });
}

void usage_show_share(const struct usage *spent)
{
	double may_ns = BUDGET_SHARE * (double)spent->at_ns + BURST_MS * 1e6;
	double busiest_ns = 0;

	for (int i = 0; i < SOCKETS; i++)
		if ((double)spent->reader_ns[i] > busiest_ns)
			busiest_ns = (double)spent->reader_ns[i];
	figure_add(&(struct figure){
		"budget_s", "budget x time + burst, of one thread", "s", may_ns / 1e9, NAN });
	figure_add(&(struct figure){ "reader_share", "CPU time of the busiest reader / that", "",
		busiest_ns / may_ns, 1.1 });
	figure_add(&(struct figure){ "main_share", "CPU time of the main thread / that", "",
		(double)spent->main_ns / may_ns, 1.1 });
}
