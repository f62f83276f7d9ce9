/* SPDX-License-Identifier: BSD-3-Clause */
/* How two series of runs compare, metric by metric. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/ratio/welch.h"

enum {
	COMPARE_RUNS_MIN = 3,
	COMPARE_RUNS_MAX = 10000,
	COMPARE_METRICS_MAX = 512,
	COMPARE_VERDICT_MAX = 64
};
#define COMPARE_WITHIN 5.0 /* percent: ratios that differ by less are alike */

/* One metric of one program. */
struct compare_side {
	size_t n;
	double *runs; /* owned */
	double bound; /* of the windows: the share by which a count may be off */
};

struct compare_pair {
	const char *name, *region; /* NULL: of no region */
	struct compare_side a, b;
	const char *why; /* they cannot be compared; NULL: they can */
	struct welch welch;
	double ratio, low, high;
	bool both_zero;                 /* which .why says, too */
	bool has_scatter, is_different; /* enough runs; and the difference is not chance */
};

struct compare {
	size_t n;
	struct compare_pair pairs[COMPARE_METRICS_MAX];
};

/* Fills in all but names, sides and .why of what can be compared. */
void compare_judge(struct compare_pair pairs[], size_t n);

/* -1: B is surely not above the limit, 1: it surely is, 0: cannot tell. @percent > 0. */
int compare_limit(const struct compare_pair *pair, double percent);

/* The same of all: -1 if that holds for each, 1 if it is above for one; 0, too, if there is none.
 */
int compare_limits(const struct compare *all, double percent);

/* The arithmetic mean of the runs. */
double compare_mean(const struct compare_side *side);

/* "more", "less", "within 5 %", or why it cannot be told; of a pair without .why. */
void compare_verdict(
	const struct compare_pair *pair, double percent, char ret_text[COMPARE_VERDICT_MAX]);

/* How many runs of each may suffice to tell a difference of @percent. */
double compare_runs_needed(const struct compare_pair *pair, double percent);
