/* SPDX-License-Identifier: BSD-3-Clause */
/* What a count of an uncalibrated metric is worth here, for the site's configuration. */
#pragma once

#include <stdio.h>

#include "client/command/validate/judge.h"

struct calibration {
	const char *metric;
	double factor, error; /* the right value is the shown one times this */
	unsigned bytes; /* for the line in uncored.conf; 0: the factor is not a power of two */
};

/* Writes the uncalibrated metrics of the node to @ret, and returns their number. */
unsigned calibrate(const struct session *session, const struct judged_node *node,
	struct calibration ret[TIER_METRICS_MAX]);

/* Prints the lines for uncored.conf. */
void calibration_print(FILE *out, const struct session *session, const struct judged_node *node);
