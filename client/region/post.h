/* SPDX-License-Identifier: BSD-3-Clause */
/* Readings that members have taken, and one member adds (interval.h). They are in a ring, by their
 * number. If one is overwritten before it is added, two intervals become one. The first one of a
 * table is never overwritten, because what moved before the first interval is lost. */
#pragma once

#include "client/libuncore/internal.h"
#include "client/reader/reader.h"
#include "client/region/table.h"

/* Where the post of this number is, unless it is overwritten. */
static inline struct table_post *post_at(const struct table *table, uint64_t number)
{
	const uint64_t place = number == 1 ? 0 : 1 + number % (TABLE_POSTS - 1);

	return (struct table_post *)&table->posts[place];
}

void post(struct table *table, const struct readout *readout);

/* The earliest of the posts from @first to @last that ends after @after_ns. 0: there is none. */
uint64_t post_next(const struct table *table, uint64_t first, uint64_t last, uint64_t after_ns);

/* False: it is overwritten, or not complete. */
bool post_take(const struct table *table, uint64_t number, struct table_post *ret);
