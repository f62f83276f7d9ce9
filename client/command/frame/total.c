/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds up runs. Sums are exact, so that a single run shows what was counted. The spread uses
 * Welford's algorithm, which does not cancel when runs are nearly alike.
 */
#include "client/command/frame/total.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/tiers.h"

int total_init(struct total *ret, uint32_t n_sockets, const struct parts *parts)
{
	const uint32_t n_parts = parts ? parts->n : 0;
	struct total_socket *sockets = calloc(n_sockets + 1 + n_parts, sizeof *sockets);

	if (!sockets)
		return -ENOMEM;
	*ret = (struct total){ .n_sockets = n_sockets, .sockets = sockets, .parts = parts };
	return 0;
}

void total_done(struct total *total)
{
	free(take_ptr(total->sockets));
	free(take_ptr(total->history));
}

int total_init_like(struct total *ret, const struct total *other)
{
	int r = total_init(ret, other->n_sockets, other->parts);

	ret->n_tiers = other->n_tiers;
	memcpy(ret->tiers, other->tiers, sizeof ret->tiers);
	ret->left_out = other->left_out;
	return r;
}

/* --- which values --- */

static int total_find_metric(const struct uncore *handle, const char *tier, const char *what)
{
	char name[UNCORE_NAME_MAX];

	snprintf(name, sizeof name, "%s.%s", tier, what);
	return uncore_find_metric(handle, name);
}

#define TIER(name) name

void total_add_tiers(struct total *total, const struct uncore *handle)
{
	static const char *const tiers[TOTAL_TIERS_MAX] = { TIERS(TIER) };

	for (size_t i = 0; i < TOTAL_TIERS_MAX; i++) {
		struct total_tier *tier = &total->tiers[total->n_tiers];
		int read = total_find_metric(handle, tiers[i], "read"),
		    write = total_find_metric(handle, tiers[i], "write");

		if (read < 0 || write < 0 || total_find_metric(handle, tiers[i], "total") >= 0)
			continue;
		snprintf(tier->name, sizeof tier->name, "%s.total", tiers[i]);
		tier->read = (uint32_t)read;
		tier->write = (uint32_t)write;
		total->n_tiers++;
	}
}

const char *total_name(const struct total *total, const struct uncore *handle, uint32_t i)
{
	if (i < UNCORE_METRICS_MAX)
		return uncore_metric_name(handle, i);
	if (i == TOTAL_WALL)
		return "wall_time";
	return i - UNCORE_METRICS_MAX < total->n_tiers ? total->tiers[i - UNCORE_METRICS_MAX].name
						       : NULL;
}

/* Does the first word of @list mean this metric? */
static bool total_is_meant(const char *list, const char *name)
{
	const size_t n = strcspn(list, ",");

	return strncmp(list, name, n) == 0 && (!name[n] || name[n] == '.');
}

bool total_is_chosen(const char *list, const char *name)
{
	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (total_is_meant(list, name))
			return true;
	return false;
}

bool total_choose(struct total *total, const struct uncore *handle, const char *list,
	char ret_word[UNCORE_NAME_MAX])
{
	uint32_t chosen = 0;

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
		uint32_t meant = 0;

		snprintf(ret_word, UNCORE_NAME_MAX, "%.*s", (int)strcspn(at, ","), at);
		for (uint32_t i = 0; i < FORMAT_VALUES_MAX; i++) {
			const char *name = total_name(total, handle, i);

			meant |= (uint32_t)(name && total_is_meant(ret_word, name)) << i;
		}
		if (!meant)
			return false;
		chosen |= meant;
	}
	total->left_out = ~chosen;
	return true;
}

/* --- adding --- */

size_t total_stride(const struct total *total)
{
	return (size_t)total_n_rows(total) * TOTAL_VALUES_MAX;
}

static int total_make_room(struct total *total)
{
	uint32_t runs = total->history_runs ? 2 * total->history_runs : 1;
	uint64_t *history;

	if (total->runs < total->history_runs)
		return 0;
	history = reallocarray(total->history, runs, total_stride(total) * sizeof *total->history);
	if (!history)
		return -ENOMEM;
	total->history = history;
	total->history_runs = runs;
	return 0;
}

/* Where the counts of socket @socket in run @run begin. */
static uint64_t *history_of(const struct total *total, uint32_t run, uint32_t socket)
{
	return total->history + run * total_stride(total) + (size_t)socket * TOTAL_VALUES_MAX;
}

static void total_add_value(
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

/* The reads and writes of @tier together; absent if one of them is. */
static struct uncore_delta_value total_join_tier(
	const struct total_tier *tier, const struct uncore_delta *delta)
{
	const struct uncore_delta_value *read = &delta->values[tier->read];
	const struct uncore_delta_value *write = &delta->values[tier->write];

	return (struct uncore_delta_value){
		.count = read->count + write->count,
		.quality = read->quality | write->quality,
		.why = read->quality & UNCORE_ABSENT ? read->why : write->why,
	};
}

static void add_delta(struct total *total, uint32_t socket, const struct uncore_delta *delta)
{
	struct total_socket *sums = &total->sockets[socket];
	uint64_t *history = history_of(total, total->runs - 1, socket);

	sums->window_ns += delta->window_ns;
	sums->skew_ns += delta->skew_ns;
	for (uint32_t i = 0; i < delta->n_values; i++) {
		total_add_value(&sums->values[i], &delta->values[i], total->runs);
		history[i] = delta->values[i].count;
	}
	for (uint32_t i = 0; i < total->n_tiers; i++) {
		const struct uncore_delta_value value = total_join_tier(&total->tiers[i], delta);

		total_add_value(&sums->values[UNCORE_METRICS_MAX + i], &value, total->runs);
		history[UNCORE_METRICS_MAX + i] = value.count;
	}
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
	int r = total_make_room(total);

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

/* The channels of part @number; its flags are those of the socket, which has seen all that passed.
 */
static void count_part(const struct parts *parts, uint32_t number, struct uncore_delta *delta,
	const struct uncore_channel_value before[], const struct uncore_channel_value after[])
{
	for (uint32_t i = 0; i < delta->n_values; i++)
		delta->values[i].count = 0;
	for (uint32_t i = 0; i < parts->n_channels; i++) {
		struct uncore_delta_value *value = &delta->values[parts->channel[i].metric];

		if (parts->channel[i].part != number)
			continue;
		value->count += after[i].count - before[i].count;
		value->quality |= before[i].quality | after[i].quality;
		if (after[i].quality & UNCORE_ABSENT)
			value->why = after[i].why;
	}
}

static void add_parts(
	struct total *total, const struct readout *before, const struct readout *after)
{
	for (uint32_t i = 0; i < total_n_parts(total); i++) {
		const uint32_t socket = total->parts->part[i].socket;
		struct uncore_delta delta = UNCORE_DELTA_INIT;

		/* succeeded before */
		uncore_delta(&before->samples[socket], &after->samples[socket], &delta);
		count_part(total->parts, i, &delta, before->channels, after->channels);
		add_delta(total, total->n_sockets + 1 + i, &delta);
	}
}

int total_add_interval(
	struct total *total, const struct readout *before, const struct readout *after)
{
	int r = total_add(total, before->samples, after->samples);

	if (r == 0)
		add_parts(total, before, after);
	return r;
}

void total_flag(struct total *total, uint32_t socket, uint32_t metric, uint32_t quality)
{
	const uint32_t rows[] = { socket, total->n_sockets };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct total_value *values = total->sockets[rows[i]].values;

		values[metric].quality |= quality;
		for (uint32_t k = 0; k < total->n_tiers; k++)
			if (total->tiers[k].read == metric || total->tiers[k].write == metric)
				values[UNCORE_METRICS_MAX + k].quality |= quality;
	}
}

void total_add_wall(struct total *total, uint64_t wall_ns)
{
	const struct uncore_delta_value value = { .count = wall_ns };

	total_add_value(&total->sockets[total->n_sockets].values[TOTAL_WALL], &value, total->runs);
	history_of(total, total->runs - 1, total->n_sockets)[TOTAL_WALL] = wall_ns;
}
