/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters below perfevent, and the file that keeps them when the agent ends. A program with
 * PAPI that runs while the agent is restarted knows metrics by their numbers, and takes a count
 * that went back for 1.8e19.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"

/* The clusters of metrics. They are part of the metrics' numbers, so they never change (see pmns).
 */
enum {
	TRAFFIC_CLUSTER = 0,
	CHANNEL_CLUSTER = 1,
	QUALITY_CLUSTER = 2,
	SAMPLE_CLUSTER = 3,
	DAEMON_CLUSTER = 4,
	UP_CLUSTER = 5, /* of one metric, which PAPI needs and which has no name below uncore */
	JOB_CLUSTER = 6,
	METRIC_CLUSTER = 7, /* see numbers.h */
	PERFEVENT_FIRST_CLUSTER = 64,
};

/* One event of one PMU on one CPU. */
struct counter {
	char pmu[UNCORE_NAME_MAX], event[UNCORE_NAME_MAX]; /* of sources.h */
	unsigned cluster, item;                            /* of its metric */
	unsigned socket, cpu;                              /* where it was counted first */
	bool offered;                                      /* it has had a value */
	uint64_t base;  /* counted by earlier generations of uncored */
	uint64_t count; /* the last good count, including base */
	uint32_t bytes; /* per count */
	int source;     /* of sources.h; -1: this uncored does not have it. Not in the file */
};

enum { SAVED_EVERY_S = 60 };

struct saved {
	uint64_t generation[2]; /* the generation after those of .base */
	bool is_public;         /* everybody may read the file, even if it is not written yet */
	unsigned n_counters;
	struct counter *counters;
};

/*
 * Reads the file, and leaves room for @n_more counters after those in it. 0; the record is empty if
 * there is no file, or if the file is damaged or of another release, which the log then says.
 * -ENOMEM.
 */
int saved_load(struct saved *saved, unsigned n_more);

/*
 * Replaces the file. If that fails repeatedly, the agent logs only the first failure. A user's
 * local context may not write there, and works without a file.
 */
void saved_save(const struct saved *saved);
