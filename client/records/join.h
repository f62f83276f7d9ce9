/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins records of several nodes into one. Regions and metrics are matched by name. A region of the
 * sum has the sockets of all nodes, one node after the other, so derived.h applies to the sum, too.
 * If runs.h finds several runs, or records that are in no run, the total has a region of the same
 * name for each of them, and these are not summed. notes.h lists what makes the sum too small or
 * too large.
 */
#pragma once

#include "client/records/runs.h"

/* A region on one node. */
struct join_part {
	const struct record *record;
	struct record_region view; /* owns nothing: sockets and estimates belong to the sum */
};

struct join_region {
	bool has_estimates; /* at least one part has them */
	uint32_t n_parts;
	struct join_part *parts; /* owned; in the order of the records */
};

struct join {
	uint32_t n_records;
	struct record *records;      /* owned */
	struct runs runs;            /* owned */
	uint32_t n_apart;            /* number of records that are in no run */
	struct record total;         /* without a host */
	struct join_region *regions; /* owned; as those of the total */
};

/* Takes the records of @list, at least one, also on failure. 0; -ENOMEM. */
int join_records(struct record_list *list, struct join *ret);

/* The same, for records that the caller knows to be of one run. */
int join_run(struct record_list *list, struct join *ret);

/* Does the total have one region of each name, a sum of all nodes? */
static inline bool join_is_sum(const struct join *join)
{
	return join->runs.n_runs == 1 && !join->n_apart;
}

/* Tags for regions of the same name: "#2" is the second run; "@n01#2" the second record of this
 * host that is in no run; "" the only sum. */
enum { JOIN_TAG_MAX = 40 };
void join_tag(const struct join *join, const struct record_region *region, char ret[JOIN_TAG_MAX]);

void join_done(struct join *join);

struct join_imbalance {
	double ratio;                 /* largest / mean over the nodes; NAN: not known */
	const struct record *largest; /* the node */
};

struct join_imbalance join_imbalance(const struct join *join, uint32_t region, uint32_t metric);

/* Is there a record of this host, with or without its domain? */
bool join_has_host(const struct join *join, const char *name);
