/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/report/format.h"
#include "common/unit.h"

/* --- series --- */

static bool is_measured(const struct probe *probe, uint32_t metric)
{
	return unit_is_bytes(uncore_metric_unit(probe->reader.handle, metric)) &&
	       !format_is_check(uncore_metric_name(probe->reader.handle, metric));
}

static void add_series(
	struct probe *probe, uint32_t socket, uint32_t metric, const struct uncore_channel *channel)
{
	struct probe_series *series = &probe->series[probe->n_series++];

	*series = (struct probe_series){ .socket = socket, .metric = metric };
	series->is_channel = channel != NULL;
	snprintf(series->name, sizeof series->name, "%s",
		channel ? channel->name : uncore_metric_name(probe->reader.handle, metric));
}

/* Metrics of all sockets first, then channels in the order of uncore_describe_channel(). */
static void list_series(struct probe *probe)
{
	for (uint32_t socket = 0; socket < probe->reader.machine.n_sockets; socket++)
		for (uint32_t metric = 0; metric < probe->reader.machine.n_metrics; metric++)
			if (is_measured(probe, metric))
				add_series(probe, socket, metric, NULL);
	for (uint32_t i = 0; i < probe->reader.machine.n_channels; i++) {
		struct uncore_channel channel = UNCORE_CHANNEL_INIT;

		uncore_describe_channel(probe->reader.handle, i, &channel);
		add_series(probe, channel.socket, channel.metric, &channel);
	}
}

uint32_t probe_find(const struct probe *probe, uint32_t socket, const char *metric)
{
	for (uint32_t i = 0; i < probe->n_series && !probe->series[i].is_channel; i++)
		if (probe->series[i].socket == socket && !strcmp(probe->series[i].name, metric))
			return i;
	return PROBE_NONE;
}

bool probe_is_channel_of(const struct probe *probe, uint32_t channel, uint32_t series)
{
	const struct probe_series *part = &probe->series[channel], *whole = &probe->series[series];

	return part->is_channel && part->socket == whole->socket && part->metric == whole->metric;
}

int probe_open(const char *socket_path, struct probe *ret)
{
	uint32_t n;
	int r;

	*ret = (struct probe){ .reader.socket_path = socket_path };
	r = reader_open(&ret->reader, READER_CONNECT_NS);
	if (r < 0)
		return r;
	n = ret->reader.machine.n_sockets * ret->reader.machine.n_metrics +
	    ret->reader.machine.n_channels;
	ret->series = calloc(n + 1, sizeof *ret->series);
	if (!ret->series) {
		probe_done(ret);
		return -ENOMEM;
	}
	list_series(ret);
	return 0;
}

void probe_done(struct probe *probe)
{
	free(probe->series);
	reader_close(&probe->reader);
	*probe = (struct probe){ 0 };
}

/* --- readings --- */

/* Nobody waits for our answer, so uncored is asked again if it is late on a busy machine. */
static const struct reader_wish wish = {
	.use = READER_DIFFERENCE, .channels = true, .attempts = 4
};

int probe_take(struct probe *probe, struct readout *ret)
{
	return reader_take(&probe->reader, &wish, ret);
}

/* --- differences --- */

static void probe_note_quality(struct probe_series *series, uint32_t quality, uint32_t why)
{
	series->quality |= quality;
	if (quality & UNCORE_ABSENT)
		series->why = why;
}

static double metric_bytes(struct probe_series *series, const struct uncore_delta *delta)
{
	const struct uncore_delta_value *value = &delta->values[series->metric];

	probe_note_quality(series, value->quality, value->why);
	return value->quality & UNCORE_ABSENT ? 0 : (double)value->count;
}

static double channel_bytes(struct probe_series *series, const struct uncore_channel_value *from,
	const struct uncore_channel_value *to)
{
	probe_note_quality(series, from->quality | to->quality, to->why);
	if (series->quality & UNCORE_ABSENT || to->count < from->count)
		return 0;
	return (double)(to->count - from->count);
}

int probe_delta(struct probe *probe, const struct readout *from, const struct readout *to,
	double ret_bytes[], double ret_window_ns[])
{
	const struct uncore_channel_value *begin = from->channels, *end = to->channels;
	struct uncore_delta delta = UNCORE_DELTA_INIT;

	for (uint32_t i = 0; i < probe->n_series; i++) {
		struct probe_series *series = &probe->series[i];
		const uint32_t socket = series->socket;
		const int r = uncore_delta(&from->samples[socket], &to->samples[socket], &delta);

		if (r < 0)
			return r;
		ret_window_ns[i] = (double)delta.window_ns;
		ret_bytes[i] = series->is_channel ? channel_bytes(series, begin++, end++)
						  : metric_bytes(series, &delta);
	}
	return 0;
}
