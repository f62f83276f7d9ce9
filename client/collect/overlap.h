/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of a region's count is its own, for a record; see client/report/record.h. */
#pragma once

#include "client/region/table.h"
#include "client/report/record.h"

/* A region: its sums in a table, and what a record has of it so far, which are its passages. */
struct overlap {
	const struct table *table;
	const struct table_record *sums;
	const struct record_region *region;
};

/* Fills in @value->own, without an estimate. @value has its count already. */
void overlap_bracket(const struct overlap *overlap, const struct record_socket *socket,
	uint32_t metric, struct record_value *value);

/* Fills in the estimates, or the reasons why there are none. 0; -ENOMEM. */
int overlap_estimate(const struct table *table, struct record *record);
