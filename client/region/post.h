/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readings that members have taken, and one member adds (interval.h). Each is written to a place
 * that is free: nothing was posted there yet, or it is not later than what was added last, or its
 * writer has died. If no place is free, the reading is dropped, and two intervals become one.
 *
 * A member may be stopped while it writes. A post counts when it is complete, and the member that
 * adds takes what is complete in the order of time.
 */
#pragma once

#include "client/reader/reader.h"
#include "client/region/member.h"

/* In .at_ns of a post that is being written, with the claim of its writer. */
#define POST_WRITTEN (UINT64_C(1) << 63)

void post(const struct member *member, const struct readout *readout);

/* The posts at a moment. */
struct posts {
	uint64_t at_ns[TABLE_POSTS]; /* as in the table */
};

void post_look(struct posts *ret, const struct table *table);

/* The earliest of the readings after @after_ns, where the last interval ended. False: there is
 * none. */
bool post_take(const struct posts *posts, const struct table *table, uint64_t after_ns,
	struct table_post *ret);
