/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins what parts of a region have. */
#pragma once

#include "client/report/record.h"

/* Sums of nodes must not wrap around. */
static inline uint64_t join_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* A record that is added. */
struct join_source {
	const struct record *record;
	uint32_t place, group; /* its run; each record in no run is a group after all runs */
	uint32_t n_metrics;    /* of the sum */
	uint32_t metrics[UNCORE_METRICS_MAX]; /* for each of these; UINT32_MAX: it has none */
};

/* Adds a socket to @total: as it is, with a new number. 0; -ENOMEM. */
int join_copy_socket(const struct join_source *source, const struct record_socket *from,
	struct record_region *total);

/* The same, but sockets that lack the same metrics become one. */
int join_fold_socket(const struct join_source *source, const struct record_socket *from,
	struct record_region *total);

/* Adds what a part missed. There is a count only if all parts have one of the same event. False:
 * out of memory. */
bool join_misses(const struct record_misses *from, bool is_first, struct record_misses *total);
