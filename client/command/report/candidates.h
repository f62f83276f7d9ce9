/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions whose data may be worth faster memory: those that move DRAM's bytes nearly as fast as it
 * can be done. Figures are the region's own: counted, if no other region was open meanwhile; else
 * its share. Those come first whose threads missed most in the
 * last-level cache (UNCORE_MISSES, libuncore(3)), and those with most bytes if any has no such
 * count.
 */
#pragma once

#include "client/command/report/report-options.h"
#include "client/records/join.h"

struct candidate {
	struct record_region row; /* borrows all that it has */
	const char *basis;        /* "counted", "share" */
	double bytes, rate;       /* per ns */
	double shared;            /* part of its time in which other regions were open */
};

struct candidates {
	size_t n;
	struct candidate *all; /* owned; in the order in which they are shown */
	double reference;      /* the rate of which each has a share */
	bool is_validated;     /* ... is what `uncore validate` saw; else the best region's rate */
	bool are_counted;      /* the order is that of their misses; else of their bytes */
	const struct candidate
		*lacks; /* not counted: the first that has a reason; NULL: none has */
};

/* @percent: the least share. 0, -ENOMEM. */
int candidates_find(const struct join *join, double percent, struct candidates *ret);
void candidates_done(struct candidates *candidates);

/* Writes them as @options has it, and @notes. 0, -ENOMEM. */
int candidates_show(
	const struct report_options *options, const struct join *join, const char *notes);
