/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions of this process: what region.c adds up and report.c writes. */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "client/uncore.h"

enum {
	REGION_NAME_MAX = 64, /* bytes, with the final NUL */
	REGION_DEPTH_MAX = 32,
	REGION_FAILURE_MAX = 512,
};

struct region_value {
	uint64_t count;
	uint32_t quality;
	char *why; /* where quality says absent; a copy, since handles come and go */
};

/* One region on one socket. */
struct region_sum {
	uint64_t window_ns;
	uint64_t skew_ns;
	struct region_value values[UNCORE_METRICS_MAX];
};

struct region {
	struct region *next;
	char name[REGION_NAME_MAX];
	uint64_t count;          /* passages, the failed ones too */
	uint64_t failed;         /* passages without a reading */
	struct region_sum *sums; /* one per socket; NULL: no passage has had a reading */
};

/*
 * All regions of one process. connection_lock guards the handle and what it says of the machine
 * (held for reading while the handle is read); table_lock guards the rest and is taken last.
 */
struct regions {
	pthread_rwlock_t connection_lock;
	struct uncore *handle; /* NULL: not connected */
	uint64_t retry_at_ns;  /* no attempt to connect before that */
	/* as of the first connection; a later one must agree, its generation apart */
	char platform[UNCORE_NAME_MAX]; /* "": never connected */
	uint64_t generation[2];
	uint32_t n_sockets;
	uint32_t n_metrics;
	char names[UNCORE_METRICS_MAX][UNCORE_NAME_MAX];
	char units[UNCORE_METRICS_MAX][UNCORE_NAME_MAX];

	pthread_mutex_t table_lock;
	struct region *first; /* in the order of their first begin */
	int failure;          /* of the last failed reading; 0: none */
	char failure_text[REGION_FAILURE_MAX];
};

/* Both locks held. 0, or negative errno with a sentence. */
int report_write_json(const struct regions *regions, const char *path);
int report_write_table(const struct regions *regions);
