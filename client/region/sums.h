/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of a record, and how readings change them. Nothing here is shared: callers pass
 * copies. */
#pragma once

#include "client/region/alone.h"
#include "client/region/reading.h"
#include "client/region/table.h"
#include "client/region/window.h"

/* A reading, and what its region and the others did until then. */
struct sums_reading {
	const struct readout *readout;
	unsigned region;
	/* the region that is alone from now on if it stays so, and the entries into others;
	 * ALONE_NOT: several are open */
	unsigned sole_before;
	uint64_t others_before;
	/* the same for the one that seemed to be alone at the last reading, after this reading */
	unsigned sole_after;
	uint64_t others_after;
	struct window_state state;
	bool is_stale; /* see window.h */
	/* of a row of a state (state.h) */
	bool is_row;
	bool is_turn;  /* a change of class took the reading */
	bool is_mixed; /* since the last one there were such changes without a reading */
};

/* Copies the used part of a record to or from a table. */
void sums_copy(struct table_record *to, const struct table_record *from);

/* A stretch begins with @reading. */
void sums_open(struct table_record *record, const struct sums_reading *reading);

/* As sums_add(), at the end of a stretch. */
int sums_close(struct table_record *record, const struct sums_reading *reading);

/*
 * Adds what moved since the last reading. -ESTALE: uncored began to count anew, so what moved is
 * not known. @reading becomes the last one even then.
 */
int sums_add(struct table_record *record, const struct sums_reading *reading);

/* The region that was alone from the last reading of a socket until @reading, or ALONE_NOBODY. */
static inline unsigned sums_find_alone(
	const struct table_reading *last, const struct sums_reading *reading)
{
	return last->others != ALONE_NOT && last->sole == reading->sole_after &&
			       last->others == reading->others_after
		       ? reading->sole_after
		       : ALONE_NOBODY;
}

/* The traffic from the last reading to @now_ns is lost. */
void sums_lose(struct table_record *record, uint64_t now_ns);
