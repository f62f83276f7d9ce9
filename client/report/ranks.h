/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the ranks were in a region, which is all that a rank has of its own: bytes are those of
 * sockets. A rank is a member that entered the region.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/report/record.h"

struct ranks_one {
	uint64_t time_ns; /* RECORD_NOT_KNOWN_NS: it ended inside */
	int64_t rank;     /* -1: none */
	int32_t pid;
	uint32_t died : 1;
	uint32_t record : 31; /* its place in a list of records */
};

struct jsonwriter;

struct ranks {
	uint32_t n;
	struct ranks_one *all; /* owned; NULL: there are none, or they are not known */
};

/* Adds those of @region, of record number @place. 0; -ENOMEM. */
int ranks_add(struct ranks *ranks, const struct record *record, const struct record_region *region,
	uint32_t place);

void ranks_done(struct ranks *ranks);

enum { RANKS_NAMED = 8, RANKS_MEDIAN = 2, RANKS_QUARTILES = 5 };

/*
 * Least, 25 %, median, 75 % and most: each is the time of a rank. An outlier is farther from both
 * quartiles than 1.5 times what these are apart, and at least 5 % of the median away from that.
 */
struct ranks_spread {
	uint32_t n; /* ranks whose time is known */
	uint64_t quartiles[RANKS_QUARTILES];
	struct ranks_named {
		uint32_t n;                                 /* of all */
		const struct ranks_one *first[RANKS_NAMED]; /* as many as there are, at most */
	} outliers, dead; /* the farthest first; those whose time is not known first */
};

/* Sorts the ranks by time, those whose time is not known last; *@ret names some of them. False: no
 * time is known. */
bool ranks_spread(struct ranks *ranks, struct ranks_spread *ret);

/* The member "rank_time". @records: those to which the ranks belong. Sorts the ranks. */
void ranks_json(struct jsonwriter *json, struct ranks *ranks, const struct record *records);

/* The members "member_ns" and "rank_time" of a region. */
void ranks_json_region(
	struct jsonwriter *json, const struct record *record, const struct record_region *region);

/* Writes "outliers: 1, the farthest rank 5: 3.10 s inside, the median of 8 ranks 310 ms; ", if
 * there are outliers. */
void ranks_note(FILE *out, const struct record *record, const struct record_region *region);
