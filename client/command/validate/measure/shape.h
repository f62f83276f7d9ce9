/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of reads and writes a counter shows, whatever its scale. */
#pragma once

#include "client/command/validate/measure/fit.h"

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

/* "the reads", ... */
const char *shape_words(enum shape shape);

/* Does it show all of what is @wanted, and nothing else? */
bool shape_is_right(const struct shown *shown, enum shape wanted);

/* What a metric that shows @wanted should show of @traffic, in bytes, if nothing is evaded. */
double shape_predicted(enum shape wanted, const struct kernel_traffic *traffic);

/* A share for two decimals, without a sign in front of zero. */
double shape_rounded(double share);
