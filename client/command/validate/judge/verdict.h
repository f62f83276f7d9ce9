/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Says whether the counters of a node's socket are right, from what the kernels showed and never
 * from names. Kernel k moves r(k) and w(k) bytes. A counter that is a sum of both shows
 * a r(k) + b w(k). A cause is named only where these numbers, of all metrics and channels, prove
 * it; else the numbers are.
 */
#pragma once

#include "client/command/validate/judge/evidence.h"

/* Finds which metrics of the node's memory are absent, and why; false: none is. */
bool verdict_is_absent(const struct evidence *evidence);

/* Adds to the findings of @evidence, as all functions here do. */
void verdict(const struct evidence *evidence);

/* --- causes --- */

/* Says of each metric of @views what is wrong with it, and its cause where that is plain. */
void causes_explain(const struct evidence *evidence, const struct tier_view *views);

/* Looks at the channels of metrics with right sums: the errors of channels may cancel out. */
void causes_check_channels(const struct evidence *evidence, const struct tier_view *views);

/* Names the other sockets that show traffic of the node, and if there are none and @entirely is
 * true, the other memory. Returns what share of the traffic they show. */
double causes_elsewhere(const struct evidence *evidence, bool entirely);
