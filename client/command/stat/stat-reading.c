/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-run.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/command/frame/command.h"
#include "client/report/format.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/nearest.h"
#include "common/text.h"
#include "common/unit.h"

static const struct reader_wish wish = { .use = READER_DIFFERENCE, .channels = true };

int stat_read(struct stat_run *run, struct readout *ret)
{
	int r = reader_take(&run->reader, &wish, ret);

	if (r < 0 && r != run->last_failure) /* once, not at every interval */
		stat_complain(run, r == -ESTALE
					   ? "uncored was restarted and lost its counts: there "
					     "are no figures for this run."
					   : reader_failure(r));
	run->last_failure = r;
	return r;
}

/* Says which metrics there are. */
static int refuse_metric(struct stat_run *run, const char *word)
{
	char text[sizeof run->failure] = "", names[sizeof run->failure] = "";
	struct nearest nearest;
	const char *name;

	nearest_init(&nearest, word);
	for (uint32_t i = 0; i < FORMAT_VALUES_MAX; i++)
		if ((name = total_name(&run->total, run->reader.handle, i)) &&
			!format_is_check(name)) {
			nearest_try(&nearest, name);
			text_append(names, sizeof names, " %s", name);
		}
	text_append(text, sizeof text, "-e: this machine has no metric %s", word);
	if (nearest.name)
		text_append(text, sizeof text, "; did you mean %s?", nearest.name);
	else
		text_append(text, sizeof text,
			". Cycles, caches and other events of cores are perf's: `perf stat -e %s`.",
			word);
	text_append(text, sizeof text, " `uncore list` explains those of the sockets:%s", names);
	stat_complain(run, text);
	return EXIT_USAGE;
}

/* Says why there are no parts, or which have no figures where the output has no room for it. */
static int check_parts(struct stat_run *run)
{
	if ((run->options.channels || run->options.nodes) && !run->parts.n) {
		stat_complain(
			run, run->options.channels
				     ? "--channels: uncored counts no memory channel here."
				     : "--nodes: the kernel shows no NUMA node of these sockets.");
		return EXIT_NOT_MEASURED;
	}
	for (uint32_t i = 0; run->options.form == STAT_CSV && i < run->parts.n; i++)
		if (!run->parts.part[i].metrics)
			fprintf(stderr,
				"uncore stat: %s is absent: it is not known which channels it "
				"has.\n",
				run->parts.part[i].name);
	return 0;
}

static int stat_init_reading(struct stat_run *run)
{
	char word[UNCORE_NAME_MAX];
	int r = run->options.channels ? parts_of_channels(run->reader.handle, &run->parts)
		: run->options.nodes
			? parts_of_nodes(run->reader.handle, run->options.socket_path, &run->parts)
			: 0;

	if (r == 0)
		r = total_init(&run->total, run->reader.machine.n_sockets,
			run->parts.n ? &run->parts : NULL);
	if (r < 0) {
		stat_complain(run, "out of memory.");
		return EXIT_NOT_MEASURED;
	}
	if (check_parts(run))
		return EXIT_NOT_MEASURED;
	total_add_tiers(&run->total, run->reader.handle);
	if (run->options.metrics &&
		!total_choose(&run->total, run->reader.handle, run->options.metrics, word))
		return refuse_metric(run, word);
	until_init(&run->until, run->options.until, run->reader.handle);
	return 0;
}

int stat_connect(struct stat_run *run)
{
	run->reader.socket_path = run->options.socket_path;
	if (reader_open(&run->reader, READER_CONNECT_NS) == 0)
		return stat_init_reading(run);
	stat_complain(run, uncore_error_text());
	return EXIT_NOT_MEASURED;
}

void stat_disconnect(struct stat_run *run)
{
	readout_done(&run->before);
	readout_done(&run->now);
	readout_done(&run->last);
	free(take_ptr(run->standing));
	parts_done(&run->parts);
	total_done(&run->total);
	total_done(&run->cut);
	total_done(&run->idle);
	reader_close(&run->reader);
}

/* --- the background --- */

/* A longer moment would be felt in a command that ends at once. */
static const uint64_t MOMENT_NS = 200000, SLOW_NS = 2000000000;
static const double MUCH = 0.05;

static int measure_slice(struct stat_run *run, struct readout *before, uint64_t ns)
{
	struct readout swap;

	if (child_pause(&run->signals, clock_deadline_ns(ns)) || stat_read(run, &run->now) < 0 ||
		total_add_interval(&run->idle, before, &run->now) < 0)
		return -1;
	swap = *before;
	*before = run->now;
	run->now = swap;
	return 0;
}

static int stat_measure_for(struct stat_run *run, uint64_t ns)
{
	_cleanup_(readout_done) struct readout before = {};
	int r = total_init_like(&run->idle, &run->total);

	if (r == 0)
		r = stat_read(run, &before);
	while (r == 0 && run->idle.runs < TOTAL_IDLE_RUNS)
		r = measure_slice(run, &before, ns / TOTAL_IDLE_RUNS);
	return r < 0 ? -1 : 0;
}

/* A site that holds readings back, or rounds them, makes a moment long, or its figures coarse. */
static bool is_cheap(const struct stat_run *run)
{
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;

	return uncore_describe_daemon(run->reader.handle, &daemon) == 0 &&
	       !daemon.min_interval_ns && daemon.quantum <= 1;
}

int background_measure(struct stat_run *run)
{
	const uint64_t ns = run->options.baseline_ns;

	if (!ns)
		return 0;
	if (ns >= SLOW_NS && isatty(STDERR_FILENO))
		fprintf(stderr, "uncore stat: first %g s without the command.\n", (double)ns / 1e9);
	run->total.idle = &run->idle;
	run->total.subtract = run->options.subtract;
	return stat_measure_for(run, ns);
}

int stat_read_first(struct stat_run *run)
{
	/* Programs that read the table need no advice, and shall not wait. */
	bool looks = run->number == 1 && run->options.form == STAT_TABLE &&
		     isatty(fileno(run->out)) && !run->options.baseline_ns &&
		     !run->options.delay_ns && is_cheap(run);
	int r = looks ? stat_read(run, &run->now) : 0;

	if (looks && r == 0)
		child_pause(&run->signals, clock_deadline_ns(MOMENT_NS));
	if (r == 0)
		r = stat_read(run, &run->before);
	if (looks && r == 0)
		r = total_init_like(&run->idle, &run->total);
	return looks && r == 0 ? total_add_interval(&run->idle, &run->now, &run->before) : r;
}

/* The bytes with the highest rate. NULL: there are none. */
static const struct format_value *stat_most_of(const struct format_socket *socket)
{
	const struct format_value *most = NULL;

	for (uint32_t i = 0; i < socket->n_values; i++) {
		const struct format_value *value = &socket->values[i];

		if (unit_is_bytes(value->unit) && !format_is_check(value->name) &&
			!(value->quality & UNCORE_ABSENT) && (!most || value->rate > most->rate))
			most = value;
	}
	return most;
}

void background_note(const struct stat_run *run)
{
	const struct format_value *idle, *result;
	struct format_socket before, all;
	char text[256];
	double sure;

	if (run->total.idle || run->idle.runs != 1 || !run->total.runs)
		return;
	total_show(&run->idle, run->reader.handle, 0, &before);
	sure = 1 - (double)before.skew_ns / (double)before.window_ns;
	total_show(&run->idle, run->reader.handle, run->idle.n_sockets, &before);
	total_show(&run->total, run->reader.handle, run->total.n_sockets, &all);
	idle = stat_most_of(&before);
	result = idle ? format_find(&all, idle->name) : NULL;
	if (!result || sure * idle->rate <= MUCH * result->rate)
		return;
	snprintf(text, sizeof text,
		"Just before it, the sockets moved %.3f GB/s (%s); `--baseline 1s` shows such a "
		"rate beside each count.",
		idle->rate, idle->name);
	fputc(' ', run->out);
	text_fold(run->out, text, 1, 3);
}
