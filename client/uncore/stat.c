/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore stat: a reading of all sockets, the command, another reading. As with perf stat, figures
 * go to stderr, so that the command's own output stays what it was; nothing is run that could not
 * be measured; and once it has run, the exit status is the command's, unless that was 0 and there
 * is nothing to show for it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "client/format.h"
#include "client/jsonwriter.h"
#include "client/renew.h"
#include "client/uncore.h"
#include "client/uncore/child.h"
#include "client/uncore/command.h"
#include "client/uncore/output.h"
#include "client/uncore/stat-options.h"
#include "client/uncore/total.h"
#include "common/clock.h"
#include "common/macro.h"

/* A reading that fails costs a whole run, so a busy machine gets more time than by default. */
enum { READ_ATTEMPTS = 10 };

struct stat_run {
	struct stat_options options;
	struct child_signals signals;
	FILE *out;
	struct uncore *handle;
	struct uncore_machine machine;
	struct uncore_sample *before; /* of the run; one per socket, as the next two */
	struct uncore_sample *since;  /* of the interval */
	struct uncore_sample *now;
	struct total total;
	uint64_t started_ns; /* when the first run's first reading was taken; 0: not yet */
	uint64_t number;     /* of the run, from 1 */
	uint64_t n_intervals;
	int last_failure;   /* of a reading; 0: the last one succeeded */
	char failure[1024]; /* the last sentence; "": nothing failed */
	bool failed;        /* this run has no result */
	bool unwritten;     /* not all of the output has arrived */
};

/* --- connection and readings --- */

/* JSON on stderr shall be JSON; there the last object says what failed. */
static void complain(struct stat_run *run, const char *text)
{
	snprintf(run->failure, sizeof run->failure, "%s", text);
	if (!run->options.json || run->out != stderr)
		fprintf(stderr, "uncore stat: %s\n", text);
}

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
 * Reads all sockets. A library's limit is short, for programs that others wait for; here the
 * figures are all that is wanted, so a reader that is late for once is asked again.
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
		complain(run, r == -ESTALE ? "uncored was restarted and lost its counts: there "
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
		complain(run, uncore_error_text());
		return -1;
	}
	run->before = new_samples(run->machine.n_sockets);
	run->since = new_samples(run->machine.n_sockets);
	run->now = new_samples(run->machine.n_sockets);
	if (!run->before || !run->since || !run->now ||
		total_init(&run->total, run->machine.n_sockets) < 0) {
		complain(run, "out of memory.");
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

/* When a reading was complete. */
static uint64_t reading_ns(const struct stat_run *run, const struct uncore_sample samples[])
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < run->machine.n_sockets; i++)
		ns = samples[i].end_ns > ns ? samples[i].end_ns : ns;
	return ns;
}

/* --- printing --- */

static void flush(struct stat_run *run)
{
	const char *path = run->options.output_path;

	if (!run->unwritten && output_check(run->out, "uncore stat", path ? path : "stderr") < 0)
		run->unwritten = true;
}

/* An object that the caller goes on with. */
static void begin_json(
	const struct stat_run *run, const struct total *total, bool pretty, struct jsonwriter *ret)
{
	jsonwriter_init(ret, pretty);
	jsonwriter_object(ret, NULL);
	total_json(ret, total, run->handle, &run->machine);
}

static void end_json(struct stat_run *run, struct jsonwriter *json)
{
	_cleanup_free_ char *text = NULL;

	jsonwriter_close(json);
	if (jsonwriter_finish(json, &text) == 0) {
		fprintf(run->out, "%s\n", text);
	} else {
		fputs("uncore stat: no memory for the result.\n", stderr);
		run->unwritten = true;
	}
}

static void print_interval_rows(
	const struct stat_run *run, const struct total *interval, uint64_t time_ns)
{
	struct format_socket socket;

	for (uint32_t i = 0; i < interval->n_sockets; i++) {
		total_show(interval, run->handle, i, &socket);
		for (uint32_t k = 0; k < socket.n_values; k++) {
			if (socket.values[k].quality & UNCORE_ABSENT ||
				format_is_check(socket.values[k].name))
				continue;
			fprintf(run->out, "%12.6f  ", (double)time_ns / 1e9);
			if (run->options.repeat > 1)
				fprintf(run->out, "run %-4" PRIu64 " ", run->number);
			fprintf(run->out, "socket %-2" PRIu32 " ", i);
			format_row(run->out, &socket.values[k], false);
		}
	}
}

static void print_interval_json(
	struct stat_run *run, const struct total *interval, uint64_t time_ns)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	begin_json(run, interval, false, &json);
	jsonwriter_number(&json, "interval", run->n_intervals);
	jsonwriter_number(&json, "run", run->number);
	jsonwriter_number(&json, "time_ns", time_ns);
	end_json(run, &json);
}

/* Prints what passed since the last interval, up to run->now. */
static void print_interval(struct stat_run *run)
{
	_cleanup_(total_done) struct total interval = {};
	uint64_t time_ns = reading_ns(run, run->now) - run->started_ns;

	if (total_init(&interval, run->machine.n_sockets) < 0)
		return;
	if (total_add(&interval, run->since, run->now) < 0) {
		complain(run, uncore_error_text());
		return;
	}
	memcpy(run->since, run->now, run->machine.n_sockets * sizeof *run->now);
	run->n_intervals++;
	if (run->options.json)
		print_interval_json(run, &interval, time_ns);
	else
		print_interval_rows(run, &interval, time_ns);
	flush(run);
}

static void print_heading(const struct stat_run *run)
{
	fprintf(run->out, run->total.runs ? "\n Counts while '" : "\n No counts of '");
	for (char **word = run->options.command; *word; word++)
		fprintf(run->out, word == run->options.command ? "%s" : " %s", *word);
	fprintf(run->out, run->total.runs ? "' ran" : "'");
	if (run->total.runs > 1)
		fprintf(run->out, " (mean and standard deviation of %" PRIu32 " runs)",
			run->total.runs);
	fprintf(run->out, ", platform %s:\n\n", run->machine.platform);
}

static void print_table(const struct stat_run *run)
{
	struct format_socket socket;

	print_heading(run);
	for (uint32_t i = 0; run->total.runs && i < run->total.n_sockets; i++) {
		total_show(&run->total, run->handle, i, &socket);
		format_rows(run->out, &socket);
	}
	if (run->total.runs && run->total.n_sockets > 1) {
		total_show_all(&run->total, run->handle, &socket);
		format_rows(run->out, &socket);
	}
	if (*run->failure)
		fprintf(run->out, " Failure: %s\n", run->failure);
	format_caveats(run->out, run->machine.platform, "this command");
}

static void print_result_json(struct stat_run *run)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	begin_json(run, &run->total, !run->options.interval_ms, &json);
	if (*run->failure)
		jsonwriter_text(&json, "failure", run->failure);
	end_json(run, &json);
}

static void print_result(struct stat_run *run)
{
	if (run->options.json)
		print_result_json(run);
	else
		print_table(run);
	flush(run);
}

/* --- running --- */

static int cannot_run(struct stat_run *run, int error)
{
	char text[512];

	snprintf(
		text, sizeof text, "cannot run %s: %s.", run->options.command[0], strerror(-error));
	complain(run, text);
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
			print_interval(run);
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
		print_interval(run);
	if (total_add(&run->total, run->before, run->now) < 0) {
		complain(run, uncore_error_text());
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
		run->started_ns = reading_ns(run, run->before);
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
	print_result(&run);
	if (status == 0 && (!run.total.runs || run.unwritten))
		status = EXIT_NOT_MEASURED;
	return status;
}
