/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a counter counts, by least squares over kernels with known reads and writes: a share of the
 * reads and a share of the writes. A good counter of reads shows (1, 0). The shape says which of
 * reads and writes it shows, whatever its scale.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/command/validate/measure/measure.h"

struct fit {
	double reads, writes; /* the share of each that it shows */
	double error;         /* standard error of both */
};

/* Fits @series to the @n kernels; @with_others: as if other programs had moved nothing beside them.
 * All zero: there is no such series, or these kernels cannot tell reads from writes. */
struct fit fit_series(
	const struct measured *const kernels[], unsigned n, uint32_t series, bool with_others);

enum { SHAPE_ERRORS = 3 }; /* standard errors that chance may add */

/* A pure shape means something from this scale on: the smallest known wrong one is 1/128 (counts
 * taken for bytes). */
#define SHAPE_LEAST 0.007

enum shape {
	SHAPE_NOTHING,
	SHAPE_READS,
	SHAPE_WRITES,
	SHAPE_BOTH,  /* the same share of both */
	SHAPE_MIXED, /* different shares of both */
};

struct shown {
	enum shape shape;
	double scale; /* the larger of the two shares */
	double tolerance;
	struct fit fit;
};

struct shown shape_of(const struct fit *fit);

/* Is @value near @wanted? */
bool shape_is_near(double value, double wanted, double tolerance);

/* What a metric that shows @wanted should show of @traffic, in bytes, if nothing is evaded. */
double shape_predicted(enum shape wanted, const struct kernel_traffic *traffic);

/* What it shows of what is @wanted. */
double shape_share(enum shape wanted, const struct fit *fit);

/* The power of two of which @factor is at most @tolerance away; 0: none. A count is always worth a
 * power of two bytes, as lines and bursts are. */
double shape_power_of_two(double factor, double tolerance);

/* A share for two decimals, without a sign in front of zero. */
double shape_rounded(double share);

/* --- kinds of memory, and the metrics in which its bytes should appear --- */

enum { TIER_METRICS_MAX = 2 };

struct tier_metric {
	const char *name;
	enum shape wanted; /* what it should show */
};

struct tier {
	unsigned n; /* 0: no metric of this platform counts such memory */
	struct tier_metric metric[TIER_METRICS_MAX];
	bool can_be_a_node; /* a NUMA node without CPUs */
};

/* DRAM by reads and writes, DRAM by both together, then other memory; NULL past the last. */
const struct tier *tier_nth(size_t i);

/* Writes "dram.read and dram.write". */
enum { TIER_NAMES_BYTES = 64 };
void tier_names(const struct tier *tier, char ret[TIER_NAMES_BYTES]);

/* Is one of its metrics @name? */
bool tier_has(const struct tier *tier, const char *name);
