/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The phases of a course of rates at even distances: times in which the rate scatters around one
 * level, between points at which the level changes.
 *
 * The points are those with the least sum of squares within the phases plus a penalty for each
 * point, as exact optimal partitioning finds them (Jackson et al., "An algorithm for optimal
 * partitioning of data on an interval", 2005; Killick, Fearnhead and Eckley, "Optimal Detection of
 * Changepoints With a Linear Computational Cost", 2012). The penalty grows with the logarithm of
 * the number of rates, as in BIC, and with the scatter of sums: neighbours and caches make noise
 * that is not independent from one rate to the next.
 */
#pragma once

#include <stddef.h>

enum {
	PHASES_MAX = 8,
	PHASES_RATES_MIN = 20, /* fewer rates say nothing of phases */
	PHASES_LEAST = 8,      /* rates of a phase */
};

struct phase {
	size_t first, end; /* rates of it: first .. end - 1 */
	double mean;
	double error; /* of .first, in rates, for 95 %; 0: it is the begin */
};

/* Returns the number of phases: 1 if the level does not change; 0 if nothing is known, because
 * there are too few rates, more than PHASES_MAX phases, or no memory. */
size_t phases_find(const double rates[], size_t n, struct phase ret[PHASES_MAX]);
