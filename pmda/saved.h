/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters below perfevent, and the file in which they outlive the agent. A program with PAPI
 * that runs while the agent is started anew knows metrics by their numbers, and takes a count that
 * went back for 1.8e19.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"

enum { SAVED_FIRST_CLUSTER = 64 }; /* clusters before it are of the names below uncore */

/* One event of one PMU on one CPU. */
struct counter {
	char pmu[UNCORE_NAME_MAX], event[UNCORE_NAME_MAX]; /* of sources.h */
	unsigned cluster, item;                            /* of its metric */
	unsigned socket, cpu;                              /* where it was counted first */
	bool offered;                                      /* it had a value once */
	uint64_t base;  /* counted by earlier generations of uncored */
	uint64_t count; /* last good one, base included */
	uint32_t bytes; /* per count */
	int source;     /* of sources.h; -1: this uncored does not have it. Not in the file */
};

enum { SAVED_EVERY_S = 60 };

struct saved {
	uint64_t generation[2]; /* the generation after those of .base */
	bool is_public;         /* everybody may read the file, also if it is yet to be written */
	unsigned n_counters;
	struct counter *counters;
};

/*
 * Reads the file, and leaves room for @n_more counters behind those in it. 0, also if there is no
 * file, or if it is damaged or of another release: the record is empty then, and the log says so.
 * -ENOMEM.
 */
int saved_load(struct saved *saved, unsigned n_more);

/*
 * Replaces the file. If that fails, the agent logs it once, until it has worked again. A user's
 * local context may not write there, and goes without a file.
 */
void saved_save(const struct saved *saved);
