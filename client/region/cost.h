/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What begin and end take of a program's time, for its report: each call that takes a reading is
 * timed, and the others at one passage in 64 of a process through a region. A clock at each call
 * would make those that take no reading a third slower.
 */
#pragma once

#include "client/region/table.h"

/* Shall the passage that comes after @n_ended others be timed? The first one finds cold caches. */
static inline bool cost_is_timed(uint64_t n_ended)
{
	return n_ended % 64 == 1;
}

/* A call of this member took so long. */
void cost_add(struct table *table, unsigned slot, bool took_reading, uint64_t time_ns);
