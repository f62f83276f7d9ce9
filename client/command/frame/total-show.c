/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/total.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/unit.h"

enum { NAME_WIDTH = 12 }; /* of most names */

static int total_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void range_of(uint64_t values[], size_t n, struct range *ret)
{
	uint64_t low, high;

	qsort(values, n, sizeof *values, total_compare);
	low = values[(n - 1) / 2];
	high = values[n / 2];
	*ret = (struct range){
		.median = low + (high - low) / 2,
		.min = values[0],
		.max = values[n - 1],
	};
}

static uint64_t total_mean_of(uint64_t sum, uint32_t runs)
{
	return runs ? (sum + runs / 2) / runs : 0;
}

/* Without memory, there are no ranges, and ret->ranged says so. */
static void show_ranges(struct format_socket *ret)
{
	_cleanup_free_ uint64_t *counts = calloc(ret->values[0].n_each, sizeof *counts);
	struct range range;

	if (!counts)
		return;
	for (uint32_t i = 0; i < ret->n_values; i++) {
		struct format_value *value = &ret->values[i];

		for (uint32_t k = 0; k < value->n_each; k++)
			counts[k] = value->each[k * value->each_stride];
		range_of(counts, value->n_each, &range);
		value->median = range.median;
		value->min = range.min;
		value->max = range.max;
	}
	ret->ranged = true;
}

static int64_t total_package_of(const struct uncore *handle, uint32_t socket)
{
	struct uncore_socket described = UNCORE_SOCKET_INIT;

	if (uncore_describe_socket(handle, socket, &described) < 0)
		return -1;
	return described.package;
}

/* NULL: @socket is not a part, but a socket or all of them. */
static const struct part *part_of(const struct total *total, uint32_t socket)
{
	return socket > total->n_sockets ? &total->parts->part[socket - total->n_sockets - 1]
					 : NULL;
}

/* Is the value in what is shown? No machine has a tier whose reads and writes are both absent. */
static bool is_shown(const struct total *total, uint32_t socket, uint32_t i)
{
	const struct total_socket *sums = &total->sockets[socket];
	const struct part *part = part_of(total, socket);
	const uint32_t metrics = part ? part->metrics : UINT32_MAX;
	const struct total_tier *tier;

	if (i == TOTAL_WALL || total->left_out >> i & 1)
		return i == TOTAL_WALL;
	if (i < UNCORE_METRICS_MAX)
		return metrics >> i & 1;
	tier = &total->tiers[i - UNCORE_METRICS_MAX];
	return (metrics >> tier->read & metrics >> tier->write & 1) &&
	       !(sums->values[tier->read].quality & sums->values[tier->write].quality &
		       UNCORE_ABSENT);
}

static void show_value(const struct total *total, const struct uncore *handle, uint32_t socket,
	uint32_t i, struct format_socket *ret)
{
	const struct total_value *value = &total->sockets[socket].values[i];
	const char *name = total_name(total, handle, i);

	if (!is_shown(total, socket, i))
		return;
	if (strlen(name) > ret->name_width && !format_is_check(name))
		ret->name_width = (unsigned)strlen(name);
	ret->values[ret->n_values++] = (struct format_value){
		.name = name,
		.unit = i < UNCORE_METRICS_MAX ? uncore_metric_unit(handle, i)
			: i == TOTAL_WALL      ? "ns"
					       : UNIT_BYTES,
		.why = uncore_why(handle, value->why),
		.count = total_mean_of(value->sum, total->runs),
		.rate = format_rate(value->sum, total->sockets[socket].window_ns),
		.deviation = total->runs > 1 ? sqrt(value->squares / (total->runs - 1)) : 0,
		.quality = value->quality,
		.each = total->runs ? total->history + (size_t)socket * TOTAL_VALUES_MAX + i : NULL,
		.each_stride = total_stride(total),
		.n_each = total->runs,
	};
}

/* The total of a tier follows its writes. */
static void show_values(const struct total *total, const struct uncore *handle, uint32_t socket,
	struct format_socket *ret)
{
	for (uint32_t i = 0; uncore_metric_name(handle, i); i++) {
		show_value(total, handle, socket, i, ret);
		for (uint32_t k = 0; k < total->n_tiers; k++)
			if (total->tiers[k].write == i)
				show_value(total, handle, socket, UNCORE_METRICS_MAX + k, ret);
	}
}

/*
 * The background of @value if it goes on as in the intervals of @idle: what it may be during the
 * command differs from their mean by the scatter of the mean and by that of a time as long as the
 * command. Half the readings' lengths are uncertain, too.
 */
static void show_net(struct format_value *value, const struct format_socket *socket,
	const struct format_value *idle, const struct format_socket *idle_socket)
{
	const double window_ns = (double)socket->window_ns;
	const double slice_ns = (double)idle_socket->window_ns;
	const double share = slice_ns / (window_ns * value->n_each);
	const double scatter = idle->deviation / slice_ns * window_ns;

	value->has_net = true;
	value->net = (double)value->count - idle->rate * window_ns;
	value->net_error =
		TOTAL_IDLE_T * scatter * sqrt(1.0 / idle->n_each + share) +
		(double)value->count * (double)socket->skew_ns / window_ns +
		idle->rate * window_ns * (double)idle_socket->skew_ns / (slice_ns * idle->n_each);
}

static void show_idle(const struct total *total, const struct uncore *handle, uint32_t number,
	struct format_socket *ret)
{
	struct format_socket socket;

	total_show_one(total->idle, handle, number, &socket);
	for (uint32_t i = 0; i < ret->n_values; i++) {
		struct format_value *value = &ret->values[i];
		const struct format_value *idle = format_find(&socket, value->name);

		if (!idle || (value->quality | idle->quality) & UNCORE_ABSENT || !socket.window_ns)
			continue;
		value->has_idle = true;
		value->idle_rate = idle->rate;
		value->quality |= idle->quality;
		if (total->subtract)
			show_net(value, ret, idle, &socket);
	}
}

void total_show_one(const struct total *total, const struct uncore *handle, uint32_t socket,
	struct format_socket *ret)
{
	const struct total_socket *sums = &total->sockets[socket];
	const struct part *part = part_of(total, socket);

	*ret = (struct format_socket){
		.part = part ? part->name : NULL,
		.socket = part ? part->socket : socket,
		.package = total_package_of(handle, socket),
		.name_width = NAME_WIDTH,
		.window_ns = total_mean_of(sums->window_ns, total->runs),
		.skew_ns = total_mean_of(sums->skew_ns, total->runs),
		.repeated = total->runs > 1,
	};
	show_values(total, handle, socket, ret);
	if (ret->repeated && ret->n_values)
		show_ranges(ret);
	if (total->idle && total->runs && ret->window_ns)
		show_idle(total, handle, socket, ret);
}

/* The sockets' windows differ a little, so their rates are added. So are the bounds of errors. */
static void add_rates(struct format_socket *all, const struct format_socket *socket)
{
	for (uint32_t i = 0; i < all->n_values; i++) {
		struct format_value *sum = &all->values[i];
		const struct format_value *value = format_find(socket, sum->name);

		if (!value)
			continue;
		sum->rate += value->rate;
		sum->has_idle &= value->has_idle;
		sum->has_net &= value->has_net;
		sum->idle_rate += value->idle_rate;
		sum->net += value->net;
		sum->net_error += value->net_error;
	}
}

static void keep_sums(struct format_socket *socket)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < socket->n_values; i++)
		if (unit_of(socket->values[i].unit)->is_sum)
			socket->values[n++] = socket->values[i];
	socket->n_values = n;
}

void total_show_wall(
	const struct total *total, const struct uncore *handle, struct format_socket *ret)
{
	*ret = (struct format_socket){
		.socket = FORMAT_ALL_SOCKETS,
		.package = -1,
		.repeated = total->runs > 1,
	};
	show_value(total, handle, total->n_sockets, TOTAL_WALL, ret);
	if (ret->repeated)
		show_ranges(ret);
}

static void show_all(
	const struct total *total, const struct uncore *handle, struct format_socket *ret)
{
	struct format_socket socket;

	total_show_one(total, handle, total->n_sockets, ret);
	ret->socket = FORMAT_ALL_SOCKETS;
	ret->package = -1;
	for (uint32_t i = 0; i < ret->n_values; i++) {
		ret->values[i].has_idle = total->idle;
		ret->values[i].has_net = total->subtract;
	}
	for (uint32_t i = 0; i < total->n_sockets; i++) {
		total_show_one(total, handle, i, &socket);
		add_rates(ret, &socket);
	}
	keep_sums(ret);
}

void total_show(const struct total *total, const struct uncore *handle, uint32_t row,
	struct format_socket *ret)
{
	if (row == total->n_sockets)
		show_all(total, handle, ret);
	else
		total_show_one(total, handle, row, ret);
}

static uint64_t mean_window_ns(const struct total *total)
{
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < total->n_sockets; i++)
		sum_ns += total_mean_of(total->sockets[i].window_ns, total->runs);
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
	total_show(total, handle, total->n_sockets, &socket);
	jsonwriter_object(json, "all_sockets");
	format_json_metrics(json, "metrics", &socket);
	jsonwriter_close(json);
	if (total->parts)
		jsonwriter_array(json, "parts");
	for (uint32_t i = 0; i < total_n_parts(total); i++) {
		total_show(total, handle, total->n_sockets + 1 + i, &socket);
		format_json(json, &socket);
	}
	if (total->parts)
		jsonwriter_close(json);
}
