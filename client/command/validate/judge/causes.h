/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the known defect that explains what the two metrics of a node show. */
#pragma once

#include "client/command/validate/judge/evidence.h"
#include "client/command/validate/judge/findings.h"

/* Looks at the channels of metrics with right sums: the errors of channels may cancel out. */
void causes_check_channels(
	const struct evidence *evidence, const struct tier_view *views, struct findings *findings);

/* Adds the causes of @views, or the numbers if no known defect explains them. Adds nothing if all
 * is right. */
void causes_explain(
	const struct evidence *evidence, const struct tier_view *views, struct findings *findings);
