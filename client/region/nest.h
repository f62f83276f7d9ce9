/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions inside of regions. A thread is at each moment in one region, the innermost: what the
 * threads of a member spent in a region itself is its time (cell.h) less that of the regions that
 * they began inside of it. Regions without a column of the estimate have no such place.
 */
#pragma once

#include "client/region/table.h"

/* A thread that is inside @region begins or ends another one. */
void nest_begin(struct table *table, unsigned slot, unsigned region, uint64_t now_ns);
void nest_end(
	struct table *table, unsigned slot, unsigned region, uint64_t begun_ns, uint64_t now_ns);

/* The slot has a new owner: nobody is inside any more. */
void nest_bury(struct table *table, unsigned slot);

/* What the threads of this member have spent in the region itself until @now_ns. */
uint64_t nest_own_ns(const struct table *table, unsigned slot, unsigned region, uint64_t now_ns);
