/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds up runs. Sums are exact, so that a single run shows what was counted. The spread uses
 * Welford's algorithm, which does not cancel when runs are nearly alike.
 */
#include "client/command/frame/total.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/range.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

int total_init(struct total *ret, uint32_t n_sockets)
{
	struct total_socket *sockets = calloc(n_sockets + 1, sizeof *sockets);

	if (!sockets)
		return -ENOMEM;
	*ret = (struct total){ .n_sockets = n_sockets, .sockets = sockets };
	return 0;
}

void total_done(struct total *total)
{
	free(take_ptr(total->sockets));
	free(take_ptr(total->history));
}

/* --- adding --- */

static size_t history_stride(const struct total *total)
{
	return ((size_t)total->n_sockets + 1) * UNCORE_METRICS_MAX;
}

static int make_room(struct total *total)
{
	uint32_t runs = total->history_runs ? 2 * total->history_runs : 1;
	uint64_t *history;

	if (total->runs < total->history_runs)
		return 0;
	history =
		reallocarray(total->history, runs, history_stride(total) * sizeof *total->history);
	if (!history)
		return -ENOMEM;
	total->history = history;
	total->history_runs = runs;
	return 0;
}

/* Keeps what run number total->runs counted in @socket. */
static void keep(struct total *total, uint32_t socket, const struct uncore_delta *delta)
{
	uint64_t *row = total->history + (total->runs - 1) * history_stride(total) +
			(size_t)socket * UNCORE_METRICS_MAX;

	for (uint32_t i = 0; i < UNCORE_METRICS_MAX; i++)
		row[i] = i < delta->n_values ? delta->values[i].count : 0;
}

static void add_value(
	struct total_value *total, const struct uncore_delta_value *value, uint32_t runs)
{
	double distance = (double)value->count - total->mean;

	total->sum += value->count;
	total->mean += distance / runs;
	total->squares += distance * ((double)value->count - total->mean);
	if (value->quality & UNCORE_ABSENT && !(total->quality & UNCORE_ABSENT))
		total->why = value->why;
	total->quality |= value->quality;
}

static void add_delta(struct total *total, uint32_t socket, const struct uncore_delta *delta)
{
	struct total_socket *sums = &total->sockets[socket];

	sums->window_ns += delta->window_ns;
	sums->skew_ns += delta->skew_ns;
	for (uint32_t i = 0; i < delta->n_values; i++)
		add_value(&sums->values[i], &delta->values[i], total->runs);
	keep(total, socket, delta);
}

static void add_up(struct uncore_delta *all, const struct uncore_delta *delta)
{
	for (uint32_t i = 0; i < delta->n_values; i++) {
		all->values[i].count += delta->values[i].count;
		if (delta->values[i].quality & ~all->values[i].quality & UNCORE_ABSENT)
			all->values[i].why = delta->values[i].why;
		all->values[i].quality |= delta->values[i].quality;
	}
	all->n_values = delta->n_values;
}

int total_add(struct total *total, const struct uncore_sample before[],
	const struct uncore_sample after[])
{
	struct uncore_delta delta = UNCORE_DELTA_INIT, all = UNCORE_DELTA_INIT;
	int r = make_room(total);

	for (uint32_t i = 0; r == 0 && i < total->n_sockets; i++)
		r = uncore_delta(&before[i], &after[i], &delta);
	if (r < 0)
		return r;
	total->runs++;
	for (uint32_t i = 0; i < total->n_sockets; i++) {
		uncore_delta(&before[i], &after[i], &delta); /* succeeded above */
		add_delta(total, i, &delta);
		add_up(&all, &delta);
	}
	add_delta(total, total->n_sockets, &all);
	return 0;
}

/* --- showing --- */

static uint64_t mean_of(uint64_t sum, uint32_t runs)
{
	return runs ? (sum + runs / 2) / runs : 0;
}

/* Without memory, there are no ranges, and ret->ranged says so. */
static void show_ranges(const struct total *total, uint32_t socket, struct format_socket *ret)
{
	_cleanup_free_ uint64_t *counts = calloc(total->runs, sizeof *counts);
	struct range range;

	if (!counts)
		return;
	for (uint32_t i = 0; i < ret->n_values; i++) {
		const uint64_t *count = total->history + (size_t)socket * UNCORE_METRICS_MAX + i;

		for (uint32_t k = 0; k < total->runs; k++)
			counts[k] = count[k * history_stride(total)];
		range_of(counts, total->runs, &range);
		ret->values[i].median = range.median;
		ret->values[i].min = range.min;
		ret->values[i].max = range.max;
	}
	ret->ranged = true;
}

static int64_t package_of(const struct uncore *handle, uint32_t socket)
{
	struct uncore_socket described = UNCORE_SOCKET_INIT;

	if (uncore_describe_socket(handle, socket, &described) < 0)
		return -1;
	return described.package;
}

void total_show(const struct total *total, const struct uncore *handle, uint32_t socket,
	struct format_socket *ret)
{
	const struct total_socket *sums = &total->sockets[socket];
	const char *name;

	*ret = (struct format_socket){
		.socket = socket,
		.package = package_of(handle, socket),
		.window_ns = mean_of(sums->window_ns, total->runs),
		.skew_ns = mean_of(sums->skew_ns, total->runs),
		.repeated = total->runs > 1,
	};
	for (uint32_t i = 0; (name = uncore_metric_name(handle, i)); i++) {
		const struct total_value *value = &sums->values[i];

		ret->values[ret->n_values++] = (struct format_value){
			.name = name,
			.unit = uncore_metric_unit(handle, i),
			.why = uncore_why(handle, value->why),
			.count = mean_of(value->sum, total->runs),
			.rate = format_rate(value->sum, sums->window_ns),
			.deviation = total->runs > 1 ? sqrt(value->squares / (total->runs - 1)) : 0,
			.quality = value->quality,
		};
	}
	if (ret->repeated)
		show_ranges(total, socket, ret);
}

/* The sockets' windows differ a little, so their rates are added. */
static void add_rates(struct format_socket *all, const struct format_socket *socket)
{
	for (uint32_t i = 0; i < socket->n_values; i++)
		all->values[i].rate += socket->values[i].rate;
}

static void keep_bytes(struct format_socket *socket)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < socket->n_values; i++)
		if (strcmp(socket->values[i].unit, "bytes") == 0)
			socket->values[n++] = socket->values[i];
	socket->n_values = n;
}

void total_show_all(
	const struct total *total, const struct uncore *handle, struct format_socket *ret)
{
	struct format_socket socket;

	total_show(total, handle, total->n_sockets, ret);
	ret->socket = FORMAT_ALL_SOCKETS;
	ret->package = -1;
	for (uint32_t i = 0; i < total->n_sockets; i++) {
		total_show(total, handle, i, &socket);
		add_rates(ret, &socket);
	}
	keep_bytes(ret);
}

static uint64_t mean_window_ns(const struct total *total)
{
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < total->n_sockets; i++)
		sum_ns += mean_of(total->sockets[i].window_ns, total->runs);
	return total->n_sockets ? sum_ns / total->n_sockets : 0;
}

void total_json(struct jsonwriter *json, const struct total *total, const struct uncore *handle,
	const struct uncore_machine *machine)
{
	struct format_socket socket;

	format_json_origin(json, machine->platform, machine->generation);
	jsonwriter_number(json, "window_ns", mean_window_ns(total));
	jsonwriter_number(json, "runs", total->runs);
	jsonwriter_array(json, "sockets");
	for (uint32_t i = 0; total->runs && i < total->n_sockets; i++) {
		total_show(total, handle, i, &socket);
		format_json(json, &socket);
	}
	jsonwriter_close(json);
	if (!total->runs)
		return;
	total_show_all(total, handle, &socket);
	jsonwriter_object(json, "all_sockets");
	format_json_metrics(json, &socket);
	jsonwriter_close(json);
}
