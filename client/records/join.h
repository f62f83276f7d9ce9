/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of several nodes as one. Regions and metrics are matched by name. A region of the sum has
 * the sockets of all nodes, one node after the other, so all that derived.h says of a region holds
 * for the sum, too. Where runs.h finds several runs, or records that are in none, the total has a
 * region of the same name for each of them, and these are not summed. notes.h says what makes the
 * sum less than it seems.
 */
#pragma once

#include "client/records/runs.h"

/* A region on one node. */
struct join_part {
	const struct record *record;
	struct record_region view; /* owns nothing: sockets and estimates are the sum's */
};

struct join_region {
	bool has_estimates; /* some part has */
	uint32_t n_parts;
	struct join_part *parts; /* owned; in the order of the records */
};

struct join {
	uint32_t n_records;
	struct record *records;      /* owned */
	struct runs runs;            /* owned */
	uint32_t n_apart;            /* records that are in no run */
	struct record total;         /* without a host */
	struct join_region *regions; /* owned; as those of the total */
};

/* Takes the records of @list, one at least, also when it fails. 0; -ENOMEM. */
int join_records(struct record_list *list, struct join *ret);

/* The same, of records that are of one run: the caller knows. */
int join_run(struct record_list *list, struct join *ret);

/* Has the total one region of each name, a sum of all nodes? */
static inline bool join_is_sum(const struct join *join)
{
	return join->runs.n_runs == 1 && !join->n_apart;
}

/* How regions of a name are told apart: "#2" is the second run; "@n01#2" the second record of this
 * host that is in none; "" the only sum. */
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
