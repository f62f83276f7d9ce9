/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what the counters of a node's socket get wrong, from what the kernels showed and never from
 * names. Kernel k moves r(k) and w(k) bytes. A counter that is a sum of both shows a r(k) + b w(k).
 * The numbers of all counters of all sockets tell the known defects apart.
 */
#pragma once

#include "client/command/validate/judge/evidence.h"

/* Finds which metrics of the node's memory are absent, and why; false: none is. */
bool verdict_is_absent(const struct evidence *evidence);

/* Adds to the findings of @evidence, as all functions here do. */
void verdict(const struct evidence *evidence);

/* --- causes: the known defects that explain what the metrics of a node show --- */

/* Looks at the channels of metrics with right sums: the errors of channels may cancel out. */
void causes_check_channels(const struct evidence *evidence, const struct tier_view *views);

/* Adds the causes of @views, or the numbers if no known defect explains them. Adds nothing if all
 * is right. */
void causes_explain(const struct evidence *evidence, const struct tier_view *views);

/* --- traffic that does not show in the metrics where it should --- */

/* Do the counters of another socket, or of other memory, show most of the traffic? */
bool elsewhere_is_most(const struct evidence *evidence);

/* Names the other sockets that show traffic of the node: @entirely, or a part of it. Returns how
 * much they show. */
double elsewhere_on_sockets(const struct evidence *evidence, bool entirely);

/* Says where the traffic shows if the node's own metrics show nothing of it, or next to nothing. */
void elsewhere_entirely(const struct evidence *evidence);
