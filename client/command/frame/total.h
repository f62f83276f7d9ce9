/* SPDX-License-Identifier: BSD-3-Clause */
/* Mean and spread of the counts of several runs (or of one interval). */
#pragma once

#include <stdio.h>

#include "client/libuncore/uncore.h"
#include "client/report/format.h"

struct total_value {
	uint64_t sum;
	double mean, squares; /* Welford's running mean and sum of squared distances */
	uint32_t quality;
	uint32_t why;
};

struct total_socket {
	uint64_t window_ns; /* sums over runs */
	uint64_t skew_ns;
	struct total_value values[UNCORE_METRICS_MAX];
};

struct total {
	uint32_t runs;
	uint32_t n_sockets;
	struct total_socket *sockets; /* one more than n_sockets: the last is for all together */
	uint64_t *history;            /* the count of each run, socket and metric */
	uint32_t history_runs;        /* the runs that .history has room for */
};

/* 0, -ENOMEM. */
int total_init(struct total *ret, uint32_t n_sockets);
void total_done(struct total *total);

/* Adds one run: the counts between two readings of all sockets. Errors as uncore_delta(); -ENOMEM.
 */
int total_add(struct total *total, const struct uncore_sample before[],
	const struct uncore_sample after[]);

/* Means, medians and ends of socket @socket; the names belong to @handle. */
void total_show(const struct total *total, const struct uncore *handle, uint32_t socket,
	struct format_socket *ret);

/* The sums over all sockets of metrics in bytes; a metric that one socket lacks is absent. */
void total_show_all(
	const struct total *total, const struct uncore *handle, struct format_socket *ret);

/*
 * The members "platform", "generation", "window_ns", "runs", "sockets":[..] and "all_sockets" of an
 * object; no sockets if there was no run.
 */
void total_json(struct jsonwriter *json, const struct total *total, const struct uncore *handle,
	const struct uncore_machine *machine);
