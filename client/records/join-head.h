/* SPDX-License-Identifier: BSD-3-Clause */
/* What records have beside their regions, joined: processes, metrics, times, what it cost. */
#pragma once

#include "client/report/record.h"

/* Sums of nodes must not go round. */
static inline uint64_t join_head_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* 0; -ENOMEM. */
int join_head(const struct record *record, bool first, struct record *total);
