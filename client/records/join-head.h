/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins the parts of records other than regions: processes, metrics, times and cost. */
#pragma once

#include "client/report/record.h"

/* Sums of nodes must not wrap around. */
static inline uint64_t join_head_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* 0; -ENOMEM. */
int join_head(const struct record *record, bool first, struct record *total);
