/* SPDX-License-Identifier: BSD-3-Clause */
/* Mean and spread of the counts of several runs (or of one interval). */
#pragma once

#include <stdio.h>

#include "client/command/frame/parts.h"
#include "client/libuncore/uncore.h"
#include "client/reader/reader.h"
#include "client/report/format.h"

enum {
	TOTAL_TIERS_MAX = FORMAT_VALUES_MAX - UNCORE_METRICS_MAX,
	TOTAL_WALL = FORMAT_VALUES_MAX, /* of all sockets: how long the command ran */
	TOTAL_VALUES_MAX,
	TOTAL_IDLE_RUNS = 10, /* intervals whose scatter tells how even the background is */
};
#define TOTAL_IDLE_T 2.262 /* Student's t of as many intervals, for 95 % */

struct total_value {
	uint64_t sum;
	double mean, squares; /* Welford's running mean and sum of squared distances */
	uint32_t quality;
	uint32_t why;
};

struct total_socket {
	uint64_t window_ns; /* sums over runs */
	uint64_t skew_ns;
	struct total_value values[TOTAL_VALUES_MAX]; /* those of tiers behind the metrics */
};

/* A tier of memory whose reads and writes are separate metrics: their sum is shown as one more. */
struct total_tier {
	char name[UNCORE_NAME_MAX];
	uint32_t read, write; /* metrics */
};

struct total {
	uint32_t runs;
	uint32_t n_sockets;
	struct total_socket *sockets; /* then one for all together, and one for each part */
	const struct parts *parts;    /* borrowed; NULL: there are none */
	uint64_t *history;            /* the count of each run, socket and metric */
	uint32_t history_runs;        /* the runs that .history has room for */
	uint32_t n_tiers;
	struct total_tier tiers[TOTAL_TIERS_MAX];
	uint32_t left_out; /* bits of the values that are not shown */
	const struct total
		*idle; /* TOTAL_IDLE_RUNS intervals without the command, or one; or NULL */
	bool subtract; /* shows counts without it */
};

/* Median and both ends of the counts of several runs. A bad run moves a mean, but it moves only one
 * of the ends, and not the median. */
struct range {
	uint64_t median, min, max;
};

/* Of @n >= 1 @values, which it sorts. */
void range_of(uint64_t values[], size_t n, struct range *ret);

/* @parts: NULL, or to be added, too. 0, -ENOMEM. */
int total_init(struct total *ret, uint32_t n_sockets, const struct parts *parts);
void total_done(struct total *total);

/* 0, -ENOMEM. As total_init(), with the tiers and the choice of @other. */
int total_init_like(struct total *ret, const struct total *other);

/* Before anything is added: adds a total for each tier of memory. Tiers are not added up, because
 * one may be the cache of another. */
void total_add_tiers(struct total *total, const struct uncore *handle);

/* Does @list, "dram.read,itom", have this metric? "dram" stands for all of the tier. */
bool total_is_chosen(const char *list, const char *name);

/* Shows the metrics of such a list alone. False: there is no such metric as @ret_word. */
bool total_choose(struct total *total, const struct uncore *handle, const char *list,
	char ret_word[UNCORE_NAME_MAX]);

/* The name of value @i; NULL: there is none. */
const char *total_name(const struct total *total, const struct uncore *handle, uint32_t i);

/* From the count of a run in .history to that of the next one. */
size_t total_stride(const struct total *total);

/* Adds one run: the counts between two readings of all sockets. Errors as uncore_delta(); -ENOMEM.
 */
int total_add(struct total *total, const struct uncore_sample before[],
	const struct uncore_sample after[]);

/* Adds what passed between two readings, also of the parts. As total_add(). */
int total_add_interval(
	struct total *total, const struct readout *before, const struct readout *after);

/* A box of the metric stood at 0: what was added is too little. */
void total_flag(struct total *total, uint32_t socket, uint32_t metric, uint32_t quality);

/* Adds the run time of the command to the run that was added last. */
void total_add_wall(struct total *total, uint64_t wall_ns);

/* The one value "wall_time", in ns. */
void total_show_wall(
	const struct total *total, const struct uncore *handle, struct format_socket *ret);

/* How many parts there are, and where the first one is among the sockets. */
static inline uint32_t total_n_parts(const struct total *total)
{
	return total->parts ? total->parts->n : 0;
}

/* Rows: each socket, all sockets together, and each part. */
static inline uint32_t total_n_rows(const struct total *total)
{
	return total->n_sockets + 1 + total_n_parts(total);
}

/* Means, medians and ends of a row; the names belong to @handle. Of all sockets together: the sums
 * in units that may be added; a metric that one socket lacks is absent. */
void total_show(const struct total *total, const struct uncore *handle, uint32_t row,
	struct format_socket *ret);

/* The same, but of all sockets together every metric, and no rates. */
void total_show_one(const struct total *total, const struct uncore *handle, uint32_t row,
	struct format_socket *ret);

/*
 * The members "platform", "generation", "window_ns", "runs", "sockets":[..], "all_sockets" and, if
 * there are any, "parts":[..] of an object; no sockets if there was no run.
 */
void total_json(struct jsonwriter *json, const struct total *total, const struct uncore *handle,
	const struct uncore_machine *machine);
