/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regions of this process: its membership in a team, its connection, and its data on each
 * region. passage.c uses them; snapshot.c makes a record of them.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "client/region/meter.h"
#include "client/region/team.h"

enum {
	REGION_NAME_MAX = TABLE_NAME_BYTES,
	REGION_DEPTH_MAX = 32,
	REGION_BUCKETS = 256,
};

/* One region, as this process knows it. */
struct region {
	struct region *next; /* in its bucket; atomic */
	char name[REGION_NAME_MAX];
	unsigned index;         /* in the table */
	pthread_mutex_t lock;   /* protects this process's cell and all below; held briefly */
	struct failure failure; /* of the last begin that took a reading */
};

/* All regions of one process. */
struct regions {
	struct team team;
	struct meter meter;
	struct regions *inherited; /* in a forked child: the parent's, which it must not touch */
	pthread_mutex_t lock;      /* held to add a region */
	struct region *buckets[REGION_BUCKETS]; /* by name; read without the lock */
};

/* The regions of this process, made at the first call. NULL: out of memory. */
struct regions *regions_get(void);

/* The regions of this process. NULL: there are none yet. */
struct regions *regions_now(void);

/* Between these two calls no thread makes this process's regions and thereby joins a team. The
 * first call waits for a thread that is doing so. False: out of memory. */
bool regions_hold(void);
void regions_release(void);

/* The region of this name, added if need be. With a sentence: -ENOMEM; -ENOSPC: too many. */
int regions_find_or_add(struct regions *regions, const char *name, struct region **ret);

/* Keeps the failure @r, with the calling thread's sentence, for the report. Returns @r. */
int regions_remember(struct regions *regions, int r);

/* Sets the sentence. Returns -ENOMEM. */
int regions_no_memory(void);
