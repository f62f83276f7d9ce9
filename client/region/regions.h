/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regions of this process: passage.c adds them up, report.c writes them.
 *
 * A region is open while any passage is inside it, in any thread. The bytes of a socket cannot
 * be told apart by thread, so they are taken once per stretch, from the first begin to the last
 * end: passages that overlap or recur share one window, and nothing is counted twice.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "client/region/meter.h"

enum {
	REGION_NAME_MAX = 64, /* bytes, with the final NUL */
	REGION_DEPTH_MAX = 32,
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

/*
 * lock orders the threads that open and close the region; they hold it while they take a reading.
 * The numbers and sums are written under the table's lock, too, so that a report waits for no
 * reading.
 */
struct region {
	struct region *next;
	char name[REGION_NAME_MAX];
	pthread_mutex_t lock;
	struct failure failure;               /* of the reading at the first begin */
	struct uncore_sample *before, *after; /* of the stretch; one per socket */

	uint64_t begun;          /* passages */
	uint64_t count;          /* passages that have ended, the failed ones too */
	uint64_t failed;         /* ... without figures */
	uint64_t pending;        /* ... in the stretch that is still open */
	uint32_t inside;         /* passages that keep it open */
	uint64_t time_ns;        /* sum over ended passages, each by itself */
	struct region_sum *sums; /* one per socket; NULL: no stretch has had figures */
};

/* All regions of one process. Locks are taken in this order: region, meter, table. */
struct regions {
	struct meter meter;
	struct regions *inherited; /* in a forked child: the parent's, which it must not touch */

	pthread_mutex_t table_lock; /* of all members below */
	struct region *first;       /* in the order of their first begin */
	struct failure failure;     /* the last one */
};

/* The regions of this process; made if need be. NULL: out of memory. */
struct regions *regions_get(void);

/* The regions of this process; NULL: there are none. */
struct regions *regions_now(void);

/* The region of this name; made if need be. NULL: out of memory. */
struct region *regions_find_or_add(struct regions *regions, const char *name);

/* Keeps the failure @r, with the calling thread's sentence, for the report. Returns @r. */
int regions_remember(struct regions *regions, int r);

/* -ENOMEM, with a sentence. */
int regions_no_memory(void);
