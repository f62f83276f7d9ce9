/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each socket, part, and all sockets together have a track, and in it a counter for each metric. A
 * counter of Perfetto keeps its value until the next one, so the time in which there is no figure
 * is a slice beside it that says why.
 */
#include "client/command/stat/stat-run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/perfetto.h"
#include "client/report/format.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/text.h"

/* Numbers of tracks. */
enum { COMMAND_TRACK = 1, ROW_TRACKS = 2, COUNTER_TRACKS = 1 << 16 };

int stat_trace_open(struct stat_run *run)
{
	const char *path = run->options.trace_path;
	int r = path ? written_open(path, WRITTEN_WHOLE, &run->trace.file) : 0;

	run->trace.ahead_ns = clock_of(CLOCK_BOOTTIME) - clock_now_ns();
	if (r == 0)
		return 0;
	snprintf(run->failure, sizeof run->failure, "cannot write to %.512s: %s.", path,
		written_why(r));
	fprintf(stderr, "uncore stat: %s\n", run->failure);
	return -1;
}

void stat_trace_done(struct stat_run *run)
{
	int r;

	free(take_ptr(run->trace.is_described));
	if (!run->trace.file.out)
		return;
	r = written_end(&run->trace.file);
	if (r == 0)
		return;
	run->unwritten = true;
	written_complain("uncore stat", run->options.trace_path, r);
}

/* --- tracks --- */

/* The caveat of the platform stands in the name of the trace's first track. */
static void describe_command(const struct stat_run *run)
{
	const char *warning = format_warning(run->reader.machine.platform);
	char name[PERFETTO_NAME_MAX] = "";

	for (char **word = run->options.command; *word; word++)
		text_append(name, sizeof name, "%s%s", *name ? " " : "", *word);
	text_append(name, sizeof name, "%s%s", *name ? ". " : "",
		warning ? warning : "Everything that each socket did is counted.");
	text_make_plain(name);
	perfetto_track(run->trace.file.out, COMMAND_TRACK, 0, name);
}

static int describe_rows(struct stat_run *run, const struct total *interval)
{
	const uint32_t n_rows = total_n_rows(interval);
	struct format_socket shown;
	char name[STAT_COURSE_NAME_MAX];

	run->trace.is_described = calloc((size_t)n_rows * FORMAT_VALUES_MAX, sizeof(bool));
	if (!run->trace.is_described)
		return -ENOMEM;
	for (uint32_t row = 0; row < n_rows; row++) {
		total_show(interval, run->reader.handle, row, &shown);
		stat_course_name(&shown, name);
		perfetto_track(run->trace.file.out, ROW_TRACKS + row, 0, name);
	}
	return 0;
}

static uint64_t stat_counter_track(uint32_t row, uint32_t i)
{
	return COUNTER_TRACKS + (uint64_t)row * FORMAT_VALUES_MAX + i;
}

static void describe_counter(
	const struct stat_run *run, uint32_t row, uint32_t i, const struct format_value *value)
{
	char unit[FORMAT_COUNT_MAX], words[FORMAT_QUALITY_MAX], name[PERFETTO_NAME_MAX];

	snprintf(unit, sizeof unit, "%.20s/ns", value->unit);
	uncore_quality_words(value->quality, words, sizeof words);
	snprintf(name, sizeof name, "%s%s%s", value->name, *words ? " " : "", words);
	perfetto_counter_track(run->trace.file.out, stat_counter_track(row, i), ROW_TRACKS + row,
		name, strcmp(value->unit, "bytes") == 0 ? "GB/s" : unit);
}

/* --- events --- */

void stat_trace_begin(struct stat_run *run)
{
	if (!run->trace.file.out)
		return;
	if (!run->trace.n_runs++)
		describe_command(run);
	perfetto_begin(run->trace.file.out, run->trace.ahead_ns + readout_end_ns(run->since),
		COMMAND_TRACK, *run->options.command ? *run->options.command : "measured");
}

void stat_trace_end(struct stat_run *run)
{
	if (run->trace.file.out)
		perfetto_end(run->trace.file.out, run->trace.ahead_ns + readout_end_ns(run->since),
			COMMAND_TRACK);
}

static void note_absence(const struct stat_run *run, uint32_t row, const struct format_value *value,
	struct course_point time)
{
	char text[PERFETTO_NAME_MAX];

	snprintf(text, sizeof text, "%s: %s", value->name, value->why);
	text_make_plain(text);
	perfetto_begin(
		run->trace.file.out, run->trace.ahead_ns + time.begin_ns, ROW_TRACKS + row, text);
	perfetto_end(run->trace.file.out, run->trace.ahead_ns + time.end_ns, ROW_TRACKS + row);
}

/* By the times that are shown, so that rates times times are the count; they differ from the window
 * of the count by a part of a sweep. */
static double rate_of(const struct format_value *value, struct course_point time)
{
	return format_rate(value->count, time.end_ns - time.begin_ns);
}

static void note_value(struct stat_run *run, uint32_t row, uint32_t i,
	const struct format_value *value, struct course_point time)
{
	bool *is_described = &run->trace.is_described[(size_t)row * FORMAT_VALUES_MAX + i];

	if (value->quality & UNCORE_ABSENT) {
		if (*is_described)
			note_absence(run, row, value, time);
		return;
	}
	if (!*is_described)
		describe_counter(run, row, i, value);
	*is_described = true;
	perfetto_count(run->trace.file.out, run->trace.ahead_ns + time.begin_ns,
		stat_counter_track(row, i), rate_of(value, time));
}

void stat_trace_note(struct stat_run *run, const struct total *interval, struct course_point time)
{
	struct format_socket shown;

	if (!run->trace.file.out || (!run->trace.is_described && describe_rows(run, interval) < 0))
		return;
	for (uint32_t row = 0; row < total_n_rows(interval); row++) {
		total_show(interval, run->reader.handle, row, &shown);
		for (uint32_t i = 0; i < shown.n_values; i++)
			if (!format_is_check(shown.values[i].name))
				note_value(run, row, i, &shown.values[i], time);
	}
}
