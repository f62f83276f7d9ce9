/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore stat: a reading of all sockets, the command, another reading. As with perf stat, figures
 * go to stderr, so that the command's own output stays what it was; nothing is run that could not
 * be measured; and once it has run, the exit status is the command's.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "client/format.h"
#include "client/uncore.h"
#include "client/uncore/child.h"
#include "client/uncore/command.h"
#include "client/uncore/total.h"
#include "common/macro.h"

enum { INTERVAL_MS_MIN = 10, INTERVAL_MS_MAX = 3600000, REPEAT_MAX = 10000 };

/* A reading that fails costs a whole run, so a busy machine gets more time than by default. */
#define READ_WITHIN_NS 1000000000U

struct options {
	const char *socket_path;
	const char *output_path;
	uint64_t interval_ms; /* 0: none */
	uint64_t repeat;
	bool json;
	char **command;
};

struct stat_run {
	struct options options;
	struct child_signals signals;
	FILE *out;
	struct uncore *handle;
	struct uncore_machine machine;
	struct uncore_sample *before; /* of the run; one per socket, as the next two */
	struct uncore_sample *since;  /* of the interval */
	struct uncore_sample *now;
	struct total total;
	uint64_t started_ns;
	uint64_t n_intervals;
	int last_failure; /* of a reading; 0: the last one succeeded */
	bool failed;      /* this run has no result */
};

/* --- options --- */

static void write_help(void)
{
	printf("Usage: uncore stat [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	       "Run COMMAND and count what each socket's memory did meanwhile (all of it, not "
	       "only\n"
	       "for COMMAND). Figures go to stderr.\n\n"
	       "  -I, --interval MS   also print every MS milliseconds (%d to %d)\n"
	       "  -r, --repeat N      run COMMAND N times (1 to %d), print mean and spread\n"
	       "  -j, --json          print JSON; with -I one object per line\n"
	       "  -o, --output FILE   print to FILE\n"
	       "      --socket PATH   where uncored listens (default: $UNCORE_SOCKET, then\n"
	       "                      /run/uncored/socket)\n"
	       "  -h, --help\n\n"
	       "Exit status: COMMAND's; 128 + n if signal n ended it; 127 if it was not found, "
	       "126\n"
	       "if it could not be run; 125 if nothing can be measured, and COMMAND was not run;\n"
	       "2 for a wrong option.\n",
		INTERVAL_MS_MIN, INTERVAL_MS_MAX, REPEAT_MAX);
}

static bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t number;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || number < min || number > max)
		return false;
	*ret = number;
	return true;
}

static bool take_number(const char *what, int min, int max, uint64_t *ret)
{
	if (parse_number(optarg, (uint64_t)min, (uint64_t)max, ret))
		return true;
	fprintf(stderr, "uncore stat: %s is a number from %d to %d, not %s.\n", what, min, max,
		optarg);
	return false;
}

/* Returns -1 to go on, or the exit status. */
static int take_option(int letter, struct options *options)
{
	switch (letter) {
	case 'I':
		return take_number("-I MS", INTERVAL_MS_MIN, INTERVAL_MS_MAX, &options->interval_ms)
			       ? -1
			       : EXIT_USAGE;
	case 'r':
		return take_number("-r N", 1, REPEAT_MAX, &options->repeat) ? -1 : EXIT_USAGE;
	case 'j':
		options->json = true;
		return -1;
	case 'o':
		options->output_path = optarg;
		return -1;
	case 's':
		options->socket_path = optarg;
		return -1;
	case 'h':
		write_help();
		return 0;
	default:
		fprintf(stderr, "See `uncore stat --help`.\n");
		return EXIT_USAGE;
	}
}

static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = {
		{ "interval", required_argument, NULL, 'I' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "json", no_argument, NULL, 'j' },
		{ "output", required_argument, NULL, 'o' },
		{ "socket", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int letter, status;

	/* "+": the first word that is no option is the command, whose options are its own. */
	while ((letter = getopt_long(argc, argv, "+I:r:jo:h", names, NULL)) != -1) {
		status = take_option(letter, options);
		if (status >= 0)
			return status;
	}
	options->command = argv + optind;
	if (*options->command)
		return -1;
	fprintf(stderr, "uncore stat: no command to run; say `uncore stat -- COMMAND`.\n");
	return EXIT_USAGE;
}

/* --- connection and readings --- */

static void complain(const char *text)
{
	fprintf(stderr, "uncore stat: %s\n", text);
}

static int connect_again(struct stat_run *run)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	struct uncore *handle;
	int r = uncore_open(run->options.socket_path, &handle);

	if (r < 0)
		return r;
	uncore_set_timeout(handle, READ_WITHIN_NS);
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

/* Reads all sockets; a daemon that was restarted meanwhile is asked over a new connection. */
static int take_reading(struct stat_run *run, struct uncore_sample samples[])
{
	int r = uncore_read_all(run->handle, UNCORE_FRESH, samples, run->machine.n_sockets);

	if (r == -ENOTCONN) {
		r = connect_again(run);
		if (r == 0)
			r = uncore_read_all(
				run->handle, UNCORE_FRESH, samples, run->machine.n_sockets);
	}
	if (r < 0 && r != run->last_failure) /* once, not at every interval */
		complain(r == -ESTALE ? "uncored was restarted and lost its counts: there are no "
					"figures for this run."
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
		complain(uncore_error_text());
		return -1;
	}
	run->before = new_samples(run->machine.n_sockets);
	run->since = new_samples(run->machine.n_sockets);
	run->now = new_samples(run->machine.n_sockets);
	if (!run->before || !run->since || !run->now ||
		total_init(&run->total, run->machine.n_sockets) < 0) {
		complain("out of memory.");
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

/* --- printing --- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void print_json(FILE *out, struct json_object *document, int how)
{
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(document, how | JSON_C_TO_STRING_NOSLASHESCAPE));
	fflush(out);
	json_object_put(document);
}

static void print_interval_row(const struct stat_run *run, double seconds, uint32_t socket,
	const struct format_value *value)
{
	char count[FORMAT_COUNT_MAX], words[FORMAT_QUALITY_MAX];

	if (value->quality & UNCORE_ABSENT)
		return;
	format_count(value->count, count);
	uncore_quality_words(value->quality, words, sizeof words);
	fprintf(run->out, "%12.6f  socket %-2" PRIu32 " %-12s %22s %s", seconds, socket,
		value->name, count, value->unit);
	fprintf(run->out, *words ? "  %s\n" : "\n", words);
}

static void print_interval_rows(const struct stat_run *run, const struct total *interval)
{
	double seconds = (double)(now_ns() - run->started_ns) / 1e9;
	struct format_socket socket;

	for (uint32_t i = 0; i < interval->n_sockets; i++) {
		total_show(interval, run->handle, i, &socket);
		for (uint32_t k = 0; k < socket.n_values; k++)
			print_interval_row(run, seconds, i, &socket.values[k]);
	}
	fflush(run->out);
}

/* Prints what passed since the last interval, up to run->now. */
static void print_interval(struct stat_run *run)
{
	_cleanup_(total_done) struct total interval = {};
	struct json_object *document;

	if (total_init(&interval, run->machine.n_sockets) < 0)
		return;
	if (total_add(&interval, run->since, run->now) < 0) {
		complain(uncore_error_text());
		return;
	}
	memcpy(run->since, run->now, run->machine.n_sockets * sizeof *run->now);
	run->n_intervals++;
	if (!run->options.json) {
		print_interval_rows(run, &interval);
		return;
	}
	document = total_json(&interval, run->handle, &run->machine);
	json_object_object_add(document, "interval", json_object_new_uint64(run->n_intervals));
	print_json(run->out, document, JSON_C_TO_STRING_PLAIN);
}

static void print_table(const struct stat_run *run)
{
	struct format_socket socket;

	fprintf(run->out, "\n Counts while '");
	for (char **word = run->options.command; *word; word++)
		fprintf(run->out, word == run->options.command ? "%s" : " %s", *word);
	fprintf(run->out, "' ran");
	if (run->options.repeat > 1)
		fprintf(run->out, " (mean of %" PRIu32 " runs)", run->total.runs);
	fprintf(run->out, ", platform %s:\n\n", run->machine.platform);
	for (uint32_t i = 0; i < run->total.n_sockets; i++) {
		total_show(&run->total, run->handle, i, &socket);
		format_rows(run->out, &socket);
	}
	format_caveats(run->out, run->machine.platform, "this command");
}

static void print_result(const struct stat_run *run)
{
	if (!run->total.runs)
		return; /* the reason has been said */
	if (run->options.json)
		print_json(run->out, total_json(&run->total, run->handle, &run->machine),
			run->options.interval_ms ? JSON_C_TO_STRING_PLAIN
						 : JSON_C_TO_STRING_PRETTY);
	else
		print_table(run);
}

/* --- running --- */

static int cannot_run(const char *name, int error)
{
	fprintf(stderr, "uncore stat: cannot run %s: %s.\n", name, strerror(-error));
	return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* Waits for the end of the command and prints an interval whenever one is over. */
static int watch(struct stat_run *run, const struct child *child, int *ret_status)
{
	uint64_t step_ns = run->options.interval_ms * 1000000;
	uint64_t tick_ns = step_ns ? now_ns() + step_ns : UINT64_MAX;
	int r;

	while ((r = child_wait(child, &run->signals, tick_ns, ret_status)) == 0) {
		if (take_reading(run, run->now) == 0)
			print_interval(run);
		/* An interval that took too long is followed by a whole one, not by a burst. */
		while (tick_ns <= now_ns())
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
		complain(uncore_error_text());
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
		return cannot_run(run->options.command[0], r);
	if (take_reading(run, run->before) < 0) {
		child_cancel(&child);
		return EXIT_NOT_MEASURED;
	}
	memcpy(run->since, run->before, run->machine.n_sockets * sizeof *run->before);
	r = child_go(&child);
	if (r < 0)
		return cannot_run(run->options.command[0], r);
	r = watch(run, &child, &wait_status);
	if (r < 0)
		return cannot_run(run->options.command[0], r);
	take_result(run);
	*ret_go_on = !run->failed && !WIFSIGNALED(wait_status);
	return status_of(wait_status);
}

int command_stat(int argc, char **argv)
{
	_cleanup_(run_done) struct stat_run run = {
		.options = { .repeat = 1 },
		.machine = UNCORE_MACHINE_INIT,
	};
	int status = parse_options(argc, argv, &run.options);
	bool go_on = true;

	if (status >= 0)
		return status;
	if (prepare(&run) < 0)
		return EXIT_NOT_MEASURED;
	child_take_signals(&run.signals);
	run.started_ns = now_ns();
	for (uint64_t i = 0; i < run.options.repeat && go_on; i++) {
		go_on = false;
		status = run_once(&run, &go_on);
	}
	print_result(&run);
	return status;
}
