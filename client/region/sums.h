/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of a region in a table; see interval.h. */
#pragma once

#include "client/region/table.h"

/*
 * Adds interval number @number, unless it is in the sums already. One member at a time does so, and
 * the next one may repeat what it did before it was killed.
 */
void sums_add(struct table_sums *sums, uint64_t number, const struct table_interval *interval,
	const struct table_part *part);

/* Of one region, as sums_read() found it. */
struct sums {
	uint64_t lost_ns;
	uint32_t n_sockets;
	struct table_socket sockets[PAGE_SOCKETS_MAX];
};

void sums_read(struct sums *ret, const struct table_sums *sums);
