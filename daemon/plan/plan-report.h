/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of `uncored --check`: the plan, and the reason for each absent metric. Platform files.
 */
#pragma once

#include <stdio.h>

#include "common/jsonwriter.h"
#include "daemon/plan/plan.h"

/* For people. */
void plan_report_text(const struct plan *plan, FILE *out);

/* The same as JSON on one line, for free(3); NULL: out of memory. uncored(8) promises its keys.
 * @add, if it is not NULL, adds members. */
char *plan_report_json(const struct plan *plan,
	void (*add)(struct jsonwriter *json, const void *context), const void *context);

/* Parts that the daemon's state also has: the members of the object of box @number, and the member
 * `missing` with the PMUs and events that cannot be used. */
void plan_report_box(struct jsonwriter *json, const struct plan *plan, unsigned number);
void plan_report_missing(struct jsonwriter *json, const struct plan *plan);

/* The member `quality`: the words of the flags. */
void plan_report_quality(struct jsonwriter *json, uint32_t quality);

/* --- platform files as JSON --- */

/* All platforms in @directories, for free(3). NULL: out of memory, and @fault is ""; or @fault says
 * which file is wrong. */
char *platform_report_json(const char *const directories[], struct fault *fault);

/* What a count is worth: "bytes": N, or "scale": "N/M". */
void platform_report_worth(struct jsonwriter *json, struct scale scale);

/* How @metric is computed: its member `terms`. */
void platform_report_terms(struct jsonwriter *json, const struct platform_metric *metric);
