/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When `uncore stat --until` has run its command often enough: once the standard error of the mean
 * is below a share of that mean, for every metric. Equation 5 of "Memory Traffic and Complete
 * Application Profiling with PAPI Multi-Component Measurements" (Barry, Jagode, Danalis, Dongarra)
 * also repeats small problems more often, but its formula in the problem's size was chosen for one
 * kernel on one machine. The observed error serves any command.
 *
 * The sum of bytes over all sockets is judged. A socket that the command does not use shows only
 * noise, and no number of runs makes a good mean of noise. The same holds for a metric that the
 * command hardly moves. So a metric is left out, and named, while its mean is below UNTIL_SHARE of
 * the largest. Absent metrics are not judged. Checks are not judged either, since no table has
 * them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/command/frame/total.h"
#include "client/libuncore/uncore.h"

enum { UNTIL_RUNS_MIN = 3 }; /* the deviation of two runs says nothing about a third */
#define UNTIL_SHARE 0.01

enum until_state { UNTIL_IGNORED, UNTIL_LEFT_OUT, UNTIL_ABOVE, UNTIL_BELOW };

struct until_metric {
	char name[UNCORE_NAME_MAX];
	bool is_bytes;
	enum until_state state;
	double error; /* of the mean, in percent of it; NaN: not known */
};

struct until {
	double percent; /* the goal, in percent of the mean */
	uint32_t runs;
	bool is_reached;
	uint32_t n_metrics;
	struct until_metric metrics[UNCORE_METRICS_MAX];
};

/* Copies names, because another handle may replace @handle between two runs. */
void until_init(struct until *ret, double percent, const struct uncore *handle);

/* Have there been enough runs? Fills in all but name, unit and goal. */
bool until_judge(struct until *until, const struct total *total);

/* The judged metric with the largest error; NULL: none is judged. */
const struct until_metric *until_worst(const struct until *until);

/* Lines for people; @indent is put before each. */
void until_tell(const struct until *until, FILE *out, const char *indent);
