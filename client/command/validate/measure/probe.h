/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What uncored's counters show between two moments: a number for each metric in bytes of each
 * socket, and one for each channel of these metrics. The values of one such number over time are a
 * series.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"
#include "client/reader/reader.h"

struct probe_series {
	uint32_t socket;
	uint32_t metric;
	bool is_channel;
	char name[UNCORE_NAME_MAX]; /* of the metric, "dram.read"; of the channel, "imc3" */
	uint32_t quality;           /* every flag that was raised in any difference so far */
	uint32_t why;               /* for uncore_why(), where quality says absent */
};

struct probe {
	struct reader reader;
	uint32_t n_series;
	struct probe_series *series;
};

/* Connects to @socket_path, which must outlive *@ret. Errors as uncore_open(); -ENOMEM. */
int probe_open(const char *socket_path, struct probe *ret);
void probe_done(struct probe *probe);

/*
 * Takes fresh readings of all sockets, over a new connection if uncored was restarted meanwhile and
 * kept its counts. Errors as uncore_read(); -ESTALE: it lost them.
 */
int probe_take(struct probe *probe, struct readout *ret);

/*
 * Writes the bytes of each series between two readings to @ret_bytes, and the window of its socket
 * to @ret_window_ns. Errors as uncore_delta().
 */
int probe_delta(struct probe *probe, const struct readout *from, const struct readout *to,
	double ret_bytes[], double ret_window_ns[]);

/* The series of @metric on @socket; PROBE_NONE: the platform has no such metric. */
#define PROBE_NONE UINT32_MAX
uint32_t probe_find(const struct probe *probe, uint32_t socket, const char *metric);

/* Is there such a series, with values? */
static inline bool probe_has(const struct probe *probe, uint32_t series)
{
	return series != PROBE_NONE && !(probe->series[series].quality & UNCORE_ABSENT);
}

/* Is series @channel a channel of the metric of @series, on the same socket? */
bool probe_is_channel_of(const struct probe *probe, uint32_t channel, uint32_t series);
