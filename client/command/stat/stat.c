/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore stat: a reading of all sockets, the command, another reading. As with perf stat, figures
 * go to stderr, so that the command's own output is unchanged. A command that cannot be measured is
 * not run, unless --anyway says so. Once it has run, the exit status is the command's, unless that
 * is 0 and there are no figures.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "client/command/frame/child.h"
#include "client/command/frame/command.h"
#include "client/command/stat/stat-options.h"
#include "client/command/stat/stat-run.h"
#include "client/launcher/launch.h"
#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"

static void stat_run_done(struct stat_run *run)
{
	if (run->out && !run->file.out)
		fclose(run->out);
	written_done(&run->file);
	page_done(&run->page);
	written_done(&run->trace.file);
	free(run->trace.is_described);
	course_done(&run->course);
	stat_disconnect(run);
	stat_options_done(&run->options);
}

/* stderr itself writes each piece of a line at once. */
static FILE *open_stderr(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

static int open_page(struct stat_run *run)
{
	run->page = (struct page){ &page_stat, "uncore stat", run->options.html_path };
	if (page_open(&run->page) == 0)
		return stat_trace_open(run);
	snprintf(run->failure, sizeof run->failure, "cannot write to %.512s.", run->page.path);
	return -1;
}

/* Intervals are read while they come. */
static int stat_open_file(struct stat_run *run)
{
	static const enum written_how hows[2][2] = { { WRITTEN_WHOLE, WRITTEN_APPENDED },
		{ WRITTEN_LINES, WRITTEN_LINES_APPENDED } };
	int r = written_open(run->options.output_path,
		hows[!!run->options.interval_ns][run->options.append], &run->file);

	run->out = run->file.out;
	return r;
}

static int open_output(struct stat_run *run)
{
	const char *path = run->options.output_path;
	char text[512];
	int r = 0;

	if (path)
		r = stat_open_file(run);
	else
		run->out = open_stderr();
	/* Rows that are appended have their heading. */
	run->headed = run->out && run->options.append && fseek(run->out, 0, SEEK_END) == 0 &&
		      ftell(run->out) > 0;
	if (run->out)
		return open_page(run);
	snprintf(text, sizeof text, "cannot write to %s: %s.", path ? written_name(path) : "stderr",
		path ? written_why(r) : strerror(errno));
	stat_complain(run, text);
	return -1;
}

/* --- without measurement --- */

static int status_of_error(int error)
{
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Becomes the command, which so gets its own status and signals. Returns if that fails. */
static int stat_become_command(struct stat_run *run)
{
	char *const *command = run->options.command;
	int error;

	if (run->signals_taken)
		child_return_signals(&run->signals);
	child_return_file_limit();
	execvp(command[0], command);
	error = -errno;
	fprintf(stderr, "uncore stat: cannot run %s: %s.\n", command[0], strerror(-error));
	return status_of_error(error);
}

/* Nothing was measured. Returns @status as the exit status, unless this process becomes the
 * command. */
static int stat_end_unmeasured(struct stat_run *run, int status)
{
	bool bare = run->options.anyway && !run->signals.stop;

	/* The file must not keep the figures of an earlier job. */
	if (bare && !run->out && run->options.output_path)
		stat_open_file(run);
	if (run->out && (run->options.output_path || !bare))
		stat_print_result(run);
	stat_end_file(run);
	stat_print_page(run);
	if (!bare)
		return status;
	fprintf(stderr, "uncore stat: %s runs without being measured: %s\n",
		run->options.command[0], run->failure);
	return stat_become_command(run);
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

static int stat_say_cannot_run(struct stat_run *run, int error)
{
	char text[512];

	snprintf(
		text, sizeof text, "cannot run %s: %s.", run->options.command[0], strerror(-error));
	stat_complain(run, text);
	return status_of_error(error);
}

/* Waits for the end of the command, and prints each interval when it is over. */
static int stat_watch_child(struct stat_run *run, const struct child *child, int *ret_status)
{
	const uint64_t step_ns = run->options.step_ns;
	uint64_t tick_ns = step_ns ? clock_now_ns() + step_ns : UINT64_MAX;
	int r;

	while ((r = child_wait(child, &run->signals, tick_ns, ret_status)) == 0)
		tick_ns = stat_tick(run, tick_ns);
	return r;
}

static int stat_status_of(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return EXIT_BY_SIGNAL + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

/* Waits for --delay, and then takes the first reading. As child_wait(). */
static int begin_later(struct stat_run *run, const struct child *child, int *ret_status)
{
	int r = child_wait(
		child, &run->signals, clock_deadline_ns(run->options.delay_ns), ret_status);

	if (r == 0 && stat_read(run, &run->before) == 0) {
		stat_begin(run);
		return 0;
	}
	if (r > 0)
		stat_complain(run, "the command ended before --delay was over.");
	run->failed = true;
	return r == 0 ? child_wait(child, &run->signals, UINT64_MAX, ret_status) : r;
}

/* Was it one of several runs, and did a signal end it or ask for the end? */
static bool is_cut(const struct stat_run *run, int wait_status)
{
	return run->options.repeat > 1 && (WIFSIGNALED(wait_status) || run->signals.stop);
}

/* Lets the command run to its end. Returns its exit status; *@ret_go_on: another run may follow. */
static int stat_measure_child(struct stat_run *run, struct child *child, bool *ret_go_on)
{
	uint64_t start_ns = clock_now_ns();
	int wait_status = 0;
	int r = child_go(child);

	run->failed = false;
	if (r == 0 && run->options.delay_ns) {
		r = begin_later(run, child, &wait_status);
		start_ns = clock_now_ns();
	}
	if (r == 0)
		r = stat_watch_child(run, child, &wait_status);
	if (r < 0)
		return stat_say_cannot_run(run, r);
	if (!run->failed)
		stat_take_result(run, clock_now_ns() - start_ns, is_cut(run, wait_status));
	*ret_go_on = !run->failed && !WIFSIGNALED(wait_status);
	return stat_status_of(wait_status);
}

/* Runs @command without measuring it. Returns its exit status; *@ret_go_on: it ran to its end. */
static int run_aside(struct stat_run *run, char **command, bool *ret_go_on)
{
	struct child child;
	int wait_status = 0;
	int r = child_new(command, &run->signals, &child);

	if (r == 0)
		r = child_go(&child);
	if (r == 0)
		r = child_wait(&child, &run->signals, UINT64_MAX, &wait_status);
	*ret_go_on = r > 0 && !WIFSIGNALED(wait_status) && !child_told_to_stop(&run->signals);
	return r < 0 ? stat_say_cannot_run(run, r) : stat_status_of(wait_status);
}

/* Returns -1 to go on, or the exit status. */
static int stat_prepare(struct stat_run *run)
{
	const char *shell[] = { "sh", "-c", run->options.prepare, NULL };
	bool go_on = true;
	int status = run->options.prepare ? run_aside(run, (char **)shell, &go_on) : 0;

	if (status == 0 && go_on)
		return -1;
	if (status)
		stat_complain(run, "the command of --prepare failed, so nothing follows it.");
	return EXIT_NOT_MEASURED;
}

/* All runs of --warmup. Returns -1 to go on, or the exit status. */
static int warm_up(struct stat_run *run)
{
	bool go_on = true;

	while (run->n_warm < run->options.warmup) {
		int status = stat_prepare(run);

		if (status >= 0)
			return status;
		status = run_aside(run, run->options.command, &go_on);
		if (!go_on)
			return status;
		run->n_warm++;
		stat_tell_progress(run);
	}
	return -1;
}

/* One run. Returns the exit status so far; @status is that of the run before. */
static int stat_run_once(struct stat_run *run, int status, bool *ret_go_on)
{
	struct child child;
	int prepared = stat_prepare(run);
	int r = prepared < 0 ? child_new(run->options.command, &run->signals, &child) : 0;

	if (prepared >= 0)
		return prepared;
	if (r < 0)
		return stat_say_cannot_run(run, r);
	if (stat_read_first(run) < 0) {
		child_cancel(&child);
		return run->options.anyway ? status : EXIT_NOT_MEASURED;
	}
	if (!run->options.delay_ns)
		stat_begin(run);
	return stat_measure_child(run, &child, ret_go_on);
}

/* All runs. Returns the exit status of the last. */
static int stat_run_all(struct stat_run *run)
{
	bool go_on = true;
	int status;

	child_take_signals(&run->signals);
	run->signals_taken = true;
	status = warm_up(run);
	if (status >= 0)
		return status;
	status = EXIT_NOT_MEASURED;
	if (background_measure(run) < 0)
		return status;
	while (go_on && run->number < run->options.repeat) {
		go_on = false;
		run->number++;
		status = stat_run_once(run, status, &go_on);
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
	_cleanup_(stat_run_done) struct stat_run run = { .out = NULL };
	int status = stat_options_parse(argc, argv, &run.options);

	if (status >= 0)
		return status;
	if (is_another_first(&run))
		return stat_become_command(&run);
	status = stat_connect(&run);
	if (status || open_output(&run) < 0)
		return stat_end_unmeasured(&run, status ? status : EXIT_NOT_MEASURED);
	status = *run.options.command ? stat_run_all(&run) : stat_watch(&run);
	if (!run.started_ns)
		return stat_end_unmeasured(&run, status ? status : EXIT_NOT_MEASURED);
	stat_print_result(&run);
	stat_end_file(&run);
	stat_print_page(&run);
	stat_trace_done(&run);
	if (status == 0 && !run.options.anyway &&
		(!(run.total.runs + run.cut.runs) || run.unwritten))
		status = EXIT_NOT_MEASURED;
	return status;
}
