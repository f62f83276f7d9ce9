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
	uint32_t metrics[UNCORE_METRICS_MAX]; /* as join_match_metrics() finds them */
};

/* Adds a socket to @total: sockets of one number that lack the same metrics become one. 0; -ENOMEM.
 */
int join_add_socket(const struct join_source *source, const struct record_socket *from,
	struct record_region *total);

/* A part's region with the metrics of the sum, to be printed with that as its record; without its
 * members. It borrows all that it has, but perhaps the sockets. 0; -ENOMEM. */
int join_view(const struct record *record, const struct record *total,
	const struct record_region *region, struct record_region *ret);
void join_view_done(const struct record_region *region, struct record_socket *sockets);

/* Where a record has each metric of the sum; UINT32_MAX: nowhere. */
void join_match_metrics(
	const struct record *total, const struct record *record, uint32_t ret[UNCORE_METRICS_MAX]);

/* Adds what a part missed. There is a count only if all parts have one of the same event. False:
 * out of memory. */
bool join_misses(const struct record_misses *from, bool is_first, struct record_misses *total);
