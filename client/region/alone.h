/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which region was alone. At each moment a thread is in one region, the innermost, or outside of
 * all. A region is alone in a time in which no thread of the team was in any other region. Then all
 * that the sockets moved is its own, or of somebody who is not in any region.
 *
 * Each member counts in a word of its slot how many times a thread of its came into a region, and
 * how many are in one now. Its nests count the same for each region. The first count only rises. So
 * a region was alone between two readings if nothing else was open before the first one, and the
 * count without its own is the same before the first and after the second.
 *
 * Two words are not read at one moment. The order of the reads makes every such error say that a
 * region was not alone.
 */
#pragma once

#include "client/region/table.h"

enum {
	ALONE_NOBODY = TABLE_REGIONS_MAX, /* several regions are open, or one without a nest */
	ALONE_OUTSIDE,                    /* no region is open */
};

/* Of a record (table.h): its region was not alone at the last reading. */
#define ALONE_NOT UINT64_MAX

/* What was open before a reading. */
struct alone_look {
	unsigned region;  /* the only one that is open, or else the edge */
	bool is_empty;    /* no region is open */
	uint64_t others;  /* how often threads came into any other region */
	uint64_t entered; /* how often they came into any region */
};

/* A thread of this member goes from outside of all regions into @region, or out of it. */
void alone_enter(struct table *table, unsigned slot, unsigned region);
void alone_leave(struct table *table, unsigned slot, unsigned region);

/* Looks before a reading. @edge is the region that the calling thread is in next, in a window also
 * the one that it leaves; or ALONE_NOBODY. */
struct alone_look alone_look(const struct table *table, unsigned edge);

/* How often threads came into any region but @region. Called after a reading. */
uint64_t alone_count_others(const struct table *table, unsigned region);

/* How often threads came into a region with a nest, and how many are in it now. */
void alone_count(
	const struct table *table, unsigned region, uint64_t *ret_entered, uint64_t *ret_inside);

/* The slot has a new owner, so no thread is inside any more. */
void alone_bury(struct table *table, unsigned slot);
