/* SPDX-License-Identifier: BSD-3-Clause */
/* What a count of an uncalibrated metric is worth here, for the site's configuration. */
#pragma once

#include <stdio.h>

#include "client/command/validate/judge.h"

struct calibration {
	const char *metric;
	double factor, error; /* what is shown times this is right */
	unsigned bytes;       /* for the line in uncored.conf; 0: the factor is no power of two */
};

/* Writes those of the node's metrics that are uncalibrated to @ret; returns how many there are. */
unsigned calibrate(const struct session *session, const struct judged_node *node,
	struct calibration ret[TIER_METRICS_MAX]);

/* Prints the lines for uncored.conf. */
void calibration_print(FILE *out, const struct session *session, const struct judged_node *node);
