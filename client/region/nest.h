/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nested regions. At each moment a thread is in one region, the innermost. The own time of a region
 * is the time that the member's threads spent in it (cell.h) less the time in regions that they
 * began inside it. Regions without a column in the estimate have no nest.
 */
#pragma once

#include "client/region/table.h"

/* A thread inside @region begins or ends another region. */
void nest_begin(struct table *table, unsigned slot, unsigned region, uint64_t now_ns);
void nest_end(
	struct table *table, unsigned slot, unsigned region, uint64_t begun_ns, uint64_t now_ns);

/* The slot has a new owner, so no thread is inside any more. */
void nest_bury(struct table *table, unsigned slot);

/* The own time of the region until @now_ns, over the threads of this member. */
uint64_t nest_own_ns(const struct table *table, unsigned slot, unsigned region, uint64_t now_ns);
