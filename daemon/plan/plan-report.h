/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of `uncored --check`: the plan, and the reason for each absent metric. */
#pragma once

#include <stdio.h>

#include "common/jsonwriter.h"
#include "daemon/plan/plan.h"

/* For people. */
void plan_report_text(const struct plan *plan, FILE *out);

/* The same as JSON on one line, for free(3); NULL: out of memory. uncored(8) promises its keys. */
char *plan_report_json(const struct plan *plan);

/* Parts that the daemon's state also has: the members of the object of box @number, and the member
 * `missing` with the PMUs and events that cannot be used. */
void plan_report_box(struct jsonwriter *json, const struct plan *plan, unsigned number);
void plan_report_missing(struct jsonwriter *json, const struct plan *plan);
