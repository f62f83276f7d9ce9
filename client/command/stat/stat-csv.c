/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/report/csv.h"
#include "client/report/format.h"
#include "common/macro.h"
#include "common/unit.h"

/* What the rows of one block share: the end of an interval, or the number of runs. */
struct block {
	struct csv csv;
	uint32_t runs;
	uint64_t run, interval, time_ns; /* run 0: all of them; interval 0: the whole */
};

static struct csv csv_of(const struct stat_run *run)
{
	const char *separator = run->options.separator;

	return (struct csv){ .out = run->out, .separator = separator ? *separator : 0 };
}

static void stat_csv_begin(struct stat_run *run)
{
	static const char *const names[] = { "socket", "metric", "unit", "runs", "mean", "stddev",
		"median", "min", "max", "bytes_per_s", "window_ns", "skew_ns", "quality", "absent",
		"run", "interval", "time_ns", "package", "idle_bytes_per_s", "net", "net_error" };
	struct csv csv = csv_of(run);

	for (size_t i = 0; !run->headed && i < ARRAY_SIZE(names); i++)
		csv_text(&csv, names[i]);
	if (!run->headed)
		csv_end(&csv);
	run->headed = true;
}

static void stat_csv_write_counts(
	struct csv *csv, const struct format_socket *socket, const struct format_value *value)
{
	csv_number(csv, value->count);
	csv_rounded(csv, socket->repeated ? value->deviation : NAN);
	if (socket->ranged) {
		csv_number(csv, value->median);
		csv_number(csv, value->min);
		csv_number(csv, value->max);
	} else {
		csv_empty(csv, 3);
	}
	csv_rounded(csv, unit_is_bytes(value->unit) ? 1e9 * value->rate : NAN);
}

static void stat_csv_write_times(struct csv *csv, const struct format_socket *socket)
{
	if (socket->socket == FORMAT_ALL_SOCKETS) {
		csv_empty(csv, 2);
		return;
	}
	csv_number(csv, socket->window_ns);
	csv_number(csv, socket->skew_ns);
}

static void write_interval(struct block *block)
{
	csv_known(&block->csv, block->run, block->run);
	csv_known(&block->csv, block->interval, block->interval);
	csv_known(&block->csv, block->interval, block->time_ns);
}

static void stat_csv_write_row(
	struct block *block, const struct format_socket *socket, uint32_t metric)
{
	const struct format_value *value = &socket->values[metric];
	struct csv *csv = &block->csv;
	char name[16 + UNCORE_NAME_MAX];

	if (socket->part)
		snprintf(name, sizeof name, "%" PRIu32 "/%s", socket->socket, socket->part);
	else
		snprintf(name, sizeof name, "%" PRIu32, socket->socket);
	csv_text(csv, socket->socket == FORMAT_ALL_SOCKETS ? "all" : name);
	csv_text(csv, value->name);
	csv_text(csv, value->unit);
	csv_number(csv, block->runs);
	if (value->quality & UNCORE_ABSENT)
		csv_empty(csv, 6);
	else
		stat_csv_write_counts(csv, socket, value);
	stat_csv_write_times(csv, socket);
	csv_quality(csv, value->quality);
	csv_absent(csv, value->quality, value->why);
	write_interval(block);
	csv_known(csv, socket->package >= 0, socket->package);
	csv_rounded(
		csv, value->has_idle && unit_is_bytes(value->unit) ? 1e9 * value->idle_rate : NAN);
	csv_rounded(csv, value->has_net ? value->net : NAN);
	csv_rounded(csv, value->has_net ? value->net_error : NAN);
	csv_end(csv);
}

static void stat_csv_write_rows(
	const struct stat_run *run, struct block *block, const struct total *total)
{
	struct format_socket socket;

	for (uint32_t i = 0; i < total_n_rows(total); i++) {
		total_show(total, run->reader.handle, i, &socket);
		for (uint32_t k = 0; k < socket.n_values; k++)
			stat_csv_write_row(block, &socket, k);
	}
}

void stat_csv_interval(struct stat_run *run, const struct total *interval, uint64_t time_ns)
{
	struct block block = { csv_of(run), 1, run->number, run->n_intervals, time_ns };

	stat_csv_begin(run);
	stat_csv_write_rows(run, &block, interval);
}

static void csv_write_whole(
	const struct stat_run *run, struct block *block, const struct total *total)
{
	struct format_socket wall;

	if (!total->runs)
		return;
	stat_csv_write_rows(run, block, total);
	total_show_wall(total, run->reader.handle, &wall);
	stat_csv_write_row(block, &wall, 0);
}

/* No row of a cut run can be taken for a mean: it has 0 runs. */
void stat_csv_result(struct stat_run *run)
{
	struct block block = { .csv = csv_of(run), .runs = run->total.runs };
	struct block cut = { .csv = csv_of(run), .run = run->number };

	stat_csv_begin(run);
	csv_write_whole(run, &block, &run->total);
	csv_write_whole(run, &cut, &run->cut);
}
