/* SPDX-License-Identifier: BSD-3-Clause */
/* Which known defect makes the two metrics of a node show what they show. */
#pragma once

#include "client/command/validate/judge/evidence.h"
#include "client/command/validate/judge/findings.h"

/* Looks at the channels of metrics whose sums are right: wrong ones may make up for each other. */
void causes_check_channels(
	const struct evidence *evidence, const struct tier_view *views, struct findings *findings);

/* Adds the causes of @views, or the numbers where no known defect has them; nothing if it is right.
 */
void causes_explain(
	const struct evidence *evidence, const struct tier_view *views, struct findings *findings);
