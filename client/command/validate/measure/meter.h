/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What uncored's counters say between two moments: a number for each metric in bytes of each
 * socket, and one for each channel of these metrics. Each such row of numbers over time is a
 * series.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"

struct meter_series {
	uint32_t socket;
	uint32_t metric;
	bool is_channel;
	char name[UNCORE_NAME_MAX]; /* of the metric, "dram.read"; of the channel, "imc3" */
	uint32_t quality;           /* every flag that was raised in any difference so far */
	uint32_t why;               /* for uncore_why(), where quality says absent */
};

struct meter {
	struct uncore *handle;
	const char *socket_path;
	struct uncore_machine machine;
	uint32_t n_series;
	struct meter_series *series;
};

/* Counts of all series at one moment of each socket. */
struct meter_reading {
	struct uncore_sample *samples;         /* of each socket */
	struct uncore_channel_value *channels; /* of all sockets */
};

/* Connects to uncored at @socket_path, which must live on. Errors as uncore_open(); -ENOMEM. */
int meter_open(const char *socket_path, struct meter *ret);
void meter_done(struct meter *meter);

/* 0, -ENOMEM. */
int meter_reading_new(const struct meter *meter, struct meter_reading *ret);
void meter_reading_done(struct meter_reading *reading);

/*
 * Takes fresh readings of all sockets, over a new connection if uncored was restarted meanwhile and
 * kept its counts. Errors as uncore_read(); -ESTALE: it lost them.
 */
int meter_take(struct meter *meter, struct meter_reading *ret);

/*
 * Writes the bytes of each series between two readings to @ret_bytes, and the window of each socket
 * to @ret_window_ns. Errors as uncore_delta().
 */
int meter_delta(struct meter *meter, const struct meter_reading *from,
	const struct meter_reading *to, double ret_bytes[], double ret_window_ns[]);

/* The series of @metric on @socket; METER_NONE: the platform has no such metric. */
#define METER_NONE UINT32_MAX
uint32_t meter_find(const struct meter *meter, uint32_t socket, const char *metric);

/* Is series @channel a channel of the metric of @series, on the same socket? */
bool meter_is_channel_of(const struct meter *meter, uint32_t channel, uint32_t series);
