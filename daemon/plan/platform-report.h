/* SPDX-License-Identifier: BSD-3-Clause */
/* Platform files as JSON. */
#pragma once

#include "common/jsonwriter.h"
#include "daemon/base/fault.h"
#include "daemon/plan/platform.h"

/* All platforms in @directories, for free(3). NULL: out of memory, and @fault is ""; or @fault says
 * which file is wrong. */
char *platform_report_json(const char *const directories[], struct fault *fault);

/* What a count is worth: "bytes": N, or "scale": "N/M". */
void platform_report_worth(struct jsonwriter *json, struct scale scale);

/* How @metric is computed: its member `terms`. */
void platform_report_terms(struct jsonwriter *json, const struct platform_metric *metric);
