/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a metric agrees with its check: a metric that counts the same by other counters. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/count/generation.h"

/*
 * *@ret_ratio is the value of @metric divided by the value of its check on @socket, since the
 * generation began. Both values are rounded down to @quantum bytes. 1e9 stands for a check that is
 * 0 while the metric counts. False: there is no ratio, because @metric has no check, or one of the
 * two values is incomplete, or both are still small.
 */
bool agreement_find(const struct generation *generation, unsigned socket, unsigned metric,
	uint32_t quantum, double *ret_ratio);
