/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore stat: a reading of all sockets, the command, another reading. As with perf stat, figures
 * go to stderr, so that the command's own output is unchanged. A command that cannot be measured is
 * not run. Once it has run, the exit status is the command's, unless that is 0 and there are no
 * figures.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "client/renew.h"
#include "client/uncore.h"
#include "client/uncore/child.h"
#include "client/uncore/command.h"
#include "client/uncore/output.h"
#include "client/uncore/stat-options.h"
#include "client/uncore/stat-print.h"
#include "client/uncore/total.h"
#include "common/clock.h"
#include "common/macro.h"

/* A reading that fails costs a whole run, so a busy machine gets more time than by default. */
enum { READ_ATTEMPTS = 10 };

/* --- connection and readings --- */

static int connect_again(struct stat_run *run)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	struct uncore *handle;
	int r = uncore_open(run->options.socket_path, &handle);

	if (r < 0)
		return r;
	uncore_describe(handle, &machine);
	/* Tables and counts are the same as long as the generation is. */
	if (run->handle &&
		memcmp(machine.generation, run->machine.generation, sizeof machine.generation)) {
		uncore_close(handle);
		return -ESTALE;
	}
	uncore_close(run->handle);
	run->handle = handle;
	run->machine = machine;
	return 0;
}

/*
 * Reads all sockets. The library's time limit is short, because other programs may wait for its
 * caller; here only the figures matter, so a reader that is late for once is asked again.
 */
static int read_patiently(const struct stat_run *run, struct uncore_sample samples[])
{
	int r = -ETIMEDOUT;

	for (int i = 0; i < READ_ATTEMPTS && r == -ETIMEDOUT; i++)
		r = uncore_read_all(run->handle, UNCORE_FRESH, samples, run->machine.n_sockets);
	return r;
}

/* A daemon that was restarted meanwhile is asked over a new connection. */
static int take_reading(struct stat_run *run, struct uncore_sample samples[])
{
	int r = read_patiently(run, samples);

	if (renew_may_help(r)) {
		r = connect_again(run);
		if (r == 0)
			r = read_patiently(run, samples);
	}
	if (r < 0 && r != run->last_failure) /* once, not at every interval */
		stat_complain(run, r == -ESTALE
					   ? "uncored was restarted and lost its counts: there "
					     "are no figures for this run."
					   : uncore_error_text());
	run->last_failure = r;
	return r;
}

static struct uncore_sample *new_samples(uint32_t n)
{
	struct uncore_sample *samples = calloc(n, sizeof *samples);

	for (uint32_t i = 0; samples && i < n; i++)
		samples[i].size = sizeof samples[i];
	return samples;
}

static int prepare(struct stat_run *run)
{
	if (connect_again(run) < 0) {
		stat_complain(run, uncore_error_text());
		return -1;
	}
	run->before = new_samples(run->machine.n_sockets);
	run->since = new_samples(run->machine.n_sockets);
	run->now = new_samples(run->machine.n_sockets);
	if (!run->before || !run->since || !run->now ||
		total_init(&run->total, run->machine.n_sockets) < 0) {
		stat_complain(run, "out of memory.");
		return -1;
	}
	run->out = stderr;
	if (run->options.output_path)
		run->out = fopen(run->options.output_path, "we");
	if (!run->out) {
		fprintf(stderr, "uncore stat: cannot write to %s: %s.\n", run->options.output_path,
			strerror(errno));
		return -1;
	}
	return 0;
}

static void run_done(struct stat_run *run)
{
	if (run->out && run->out != stderr)
		fclose(run->out);
	free(run->before);
	free(run->since);
	free(run->now);
	total_done(&run->total);
	uncore_close(run->handle);
}

/* --- running --- */

static int cannot_run(struct stat_run *run, int error)
{
	char text[512];

	snprintf(
		text, sizeof text, "cannot run %s: %s.", run->options.command[0], strerror(-error));
	stat_complain(run, text);
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Waits for the end of the command and prints an interval whenever one is over. */
static int watch(struct stat_run *run, const struct child *child, int *ret_status)
{
	uint64_t step_ns = run->options.interval_ms * 1000000;
	uint64_t tick_ns = step_ns ? clock_now_ns() + step_ns : UINT64_MAX;
	int r;

	while ((r = child_wait(child, &run->signals, tick_ns, ret_status)) == 0) {
		if (take_reading(run, run->now) == 0)
			stat_print_interval(run);
		/* An interval that took too long is followed by a whole one, not by a burst. */
		while (tick_ns <= clock_now_ns())
			tick_ns += step_ns;
	}
	return r;
}

static void take_result(struct stat_run *run)
{
	if (take_reading(run, run->now) < 0) {
		run->failed = true;
		return;
	}
	if (run->options.interval_ms)
		stat_print_interval(run);
	if (total_add(&run->total, run->before, run->now) < 0) {
		stat_complain(run, uncore_error_text());
		run->failed = true;
	}
}

static int status_of(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return EXIT_BY_SIGNAL + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

/* One run: the exit status so far; *@ret_go_on says whether another may follow. */
static int run_once(struct stat_run *run, bool *ret_go_on)
{
	struct child child;
	int wait_status;
	int r = child_new(run->options.command, &run->signals, &child);

	if (r < 0)
		return cannot_run(run, r);
	if (take_reading(run, run->before) < 0) {
		child_cancel(&child);
		return EXIT_NOT_MEASURED;
	}
	if (!run->started_ns)
		run->started_ns = stat_reading_ns(run, run->before);
	memcpy(run->since, run->before, run->machine.n_sockets * sizeof *run->before);
	r = child_go(&child);
	if (r < 0)
		return cannot_run(run, r);
	r = watch(run, &child, &wait_status);
	if (r < 0)
		return cannot_run(run, r);
	take_result(run);
	*ret_go_on = !run->failed && !WIFSIGNALED(wait_status);
	return status_of(wait_status);
}

/* All runs: the exit status of the last. */
static int run_all(struct stat_run *run)
{
	bool go_on = true;
	int status = 0;

	child_take_signals(&run->signals);
	while (go_on && run->number < run->options.repeat) {
		go_on = false;
		run->number++;
		status = run_once(run, &go_on);
		go_on &= !child_told_to_stop(&run->signals);
	}
	return status;
}

int command_stat(int argc, char **argv)
{
	_cleanup_(run_done) struct stat_run run = { .machine = UNCORE_MACHINE_INIT };
	int status = stat_options_parse(argc, argv, &run.options);

	if (status >= 0)
		return status;
	if (prepare(&run) < 0)
		return EXIT_NOT_MEASURED;
	status = run_all(&run);
	stat_print_result(&run);
	if (status == 0 && (!run.total.runs || run.unwritten))
		status = EXIT_NOT_MEASURED;
	return status;
}
