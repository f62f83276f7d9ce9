/* SPDX-License-Identifier: BSD-3-Clause */
/* What members did between two readings, from their cells; see interval.h. */
#pragma once

#include "client/region/table.h"

/* What all members did in a place. */
struct activity {
	uint64_t own_ns;  /* of threads that ran there */
	uint64_t open_ns; /* of passages: as long as they usually are, where it is not known */
	bool is_open;     /* a thread may have been inside */
	bool has_run;     /* ... and innermost there */
};

struct activity_cell;

struct activities {
	struct activity_cell *cells; /* owned: those in which something happened */
	size_t n_cells;
	bool is_late; /* a member was killed before it wrote what it had seen in the last interval
		       */
	struct activity places[TABLE_PLACES];
};

/* Looks at all cells. False: out of memory. */
bool activities_look(struct activities *all, const struct table *table);

/*
 * Between the middles of two readings. A reading takes time: who was in a region after the begin of
 * the first one, and before the end of the second, may have moved what they counted.
 */
struct activity_window {
	uint64_t begin_ns, from_ns, to_ns, end_ns;
};

/* What is not told yet, and happened in the window, which is later from call to call. */
void activities_in(
	struct activities *all, unsigned n_regions, const struct activity_window *window);

/* All that was seen has been told, and is in the sums. */
void activities_keep(const struct activities *all, struct table *table);

/* Was any region open since the last interval? */
bool activity_is_unread(const struct table *table);

/* Was this one? Then for how long, at most. */
uint64_t activity_unread_ns(const struct table *table, unsigned place, uint64_t now_ns);
