/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore stat: a reading of all sockets, the command, another reading. As with perf stat, figures
 * go to stderr, so that the command's own output is unchanged. A command that cannot be measured is
 * not run, unless --anyway says so. Once it has run, the exit status is the command's, unless that
 * is 0 and there are no figures.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "client/command/frame/child.h"
#include "client/command/frame/command.h"
#include "client/command/stat/stat-options.h"
#include "client/command/stat/stat-print.h"
#include "client/command/stat/stat-progress.h"
#include "client/command/stat/stat-reading.h"
#include "client/command/stat/stat-run.h"
#include "client/launcher/launch.h"
#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"

static void run_done(struct stat_run *run)
{
	if (run->out && run->out != stderr)
		fclose(run->out);
	stat_disconnect(run);
	stat_options_done(&run->options);
}

static int open_output(struct stat_run *run)
{
	const char *path = run->options.output_path;
	char text[512];

	run->out = path ? fopen(path, "we") : stderr;
	if (run->out)
		return 0;
	snprintf(text, sizeof text, "cannot write to %s: %s.", path, strerror(errno));
	stat_complain(run, text);
	return -1;
}

/* --- without measurement --- */

static int status_of_error(int error)
{
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Becomes the command, which so gets its own status and signals. Returns if that fails. */
static int become_command(struct stat_run *run)
{
	char *const *command = run->options.command;
	int error;

	if (run->signals_taken)
		child_return_signals(&run->signals);
	execvp(command[0], command);
	error = -errno;
	fprintf(stderr, "uncore stat: cannot run %s: %s.\n", command[0], strerror(-error));
	return status_of_error(error);
}

/* Nothing was measured. Returns @status as the exit status, unless this process becomes the
 * command. */
static int give_up(struct stat_run *run, int status)
{
	bool bare = run->options.anyway && !run->signals.stop;

	/* The file must not keep the figures of an earlier job. */
	if (bare && !run->out && run->options.output_path)
		run->out = fopen(run->options.output_path, "we");
	if (run->out && (run->out != stderr || !bare))
		stat_print_result(run);
	if (!bare)
		return status;
	fprintf(stderr, "uncore stat: %s runs without being measured: %s\n",
		run->options.command[0], run->failure);
	return become_command(run);
}

/* Does another rank of this node measure? */
static bool is_another_first(const struct stat_run *run)
{
	int64_t rank = launch_local_rank();

	if (!run->options.first_of_node)
		return false;
	if (rank < 0)
		fputs("uncore stat: no launcher has set a local rank, so --first-of-node has no "
		      "effect and this process measures.\n",
			stderr);
	return rank > 0;
}

/* --- running --- */

static int cannot_run(struct stat_run *run, int error)
{
	char text[512];

	snprintf(
		text, sizeof text, "cannot run %s: %s.", run->options.command[0], strerror(-error));
	stat_complain(run, text);
	return status_of_error(error);
}

/* Waits for the end of the command, and prints each interval when it is over. */
static int watch(struct stat_run *run, const struct child *child, int *ret_status)
{
	uint64_t step_ns = run->options.interval_ms * 1000000;
	uint64_t tick_ns = step_ns ? clock_now_ns() + step_ns : UINT64_MAX;
	int r;

	while ((r = child_wait(child, &run->signals, tick_ns, ret_status)) == 0) {
		if (stat_read(run, &run->now) == 0)
			stat_print_interval(run);
		/* After an interval that took too long, a whole one follows, and not a burst. */
		while (tick_ns <= clock_now_ns())
			tick_ns += step_ns;
	}
	return r;
}

static void take_result(struct stat_run *run, uint64_t wall_ns)
{
	int r;

	if (stat_read(run, &run->now) < 0) {
		run->failed = true;
		return;
	}
	if (run->options.interval_ms)
		stat_print_interval(run);
	r = total_add(&run->total, run->before.samples, run->now.samples);
	if (r < 0) {
		stat_complain(run, r == -ENOMEM ? "out of memory." : uncore_error_text());
		run->failed = true;
		return;
	}
	run->wall_ns[run->total.runs - 1] = wall_ns;
}

static int status_of(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return EXIT_BY_SIGNAL + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

static void begin(struct stat_run *run)
{
	if (!run->started_ns) {
		run->started_ns = stat_reading_ns(&run->before);
		clock_gettime(CLOCK_REALTIME, &run->begun);
	}
	memcpy(run->since, run->before.samples, run->before.n_sockets * sizeof *run->since);
}

/* Lets the command run to its end. Returns its exit status; *@ret_go_on: another run may follow. */
static int measure(struct stat_run *run, struct child *child, bool *ret_go_on)
{
	uint64_t start_ns = clock_now_ns();
	int wait_status = 0;
	int r = child_go(child);

	if (r == 0)
		r = watch(run, child, &wait_status);
	if (r < 0)
		return cannot_run(run, r);
	take_result(run, clock_now_ns() - start_ns);
	*ret_go_on = !run->failed && !WIFSIGNALED(wait_status);
	return status_of(wait_status);
}

/* One run. Returns the exit status so far; @status is that of the run before. */
static int run_once(struct stat_run *run, int status, bool *ret_go_on)
{
	struct child child;
	int r = child_new(run->options.command, &run->signals, &child);

	if (r < 0)
		return cannot_run(run, r);
	if (stat_read(run, &run->before) < 0) {
		child_cancel(&child);
		return run->options.anyway ? status : EXIT_NOT_MEASURED;
	}
	begin(run);
	return measure(run, &child, ret_go_on);
}

/* All runs. Returns the exit status of the last. */
static int run_all(struct stat_run *run)
{
	bool go_on = true;
	int status = EXIT_NOT_MEASURED;

	child_take_signals(&run->signals);
	run->signals_taken = true;
	while (go_on && run->number < run->options.repeat) {
		go_on = false;
		run->number++;
		status = run_once(run, status, &go_on);
		go_on &= !child_told_to_stop(&run->signals);
		if (run->options.until > 0 && until_judge(&run->until, &run->total))
			go_on = false;
		if (go_on)
			stat_tell_progress(run);
	}
	return status;
}

int command_stat(int argc, char **argv)
{
	_cleanup_(run_done) struct stat_run run = { .out = NULL };
	int status = stat_options_parse(argc, argv, &run.options);

	if (status >= 0)
		return status;
	if (is_another_first(&run))
		return become_command(&run);
	if (stat_connect(&run) < 0 || open_output(&run) < 0)
		return give_up(&run, EXIT_NOT_MEASURED);
	status = run_all(&run);
	if (!run.started_ns)
		return give_up(&run, status);
	stat_print_result(&run);
	if (status == 0 && !run.options.anyway && (!run.total.runs || run.unwritten))
		status = EXIT_NOT_MEASURED;
	return status;
}
