/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of `uncored --check`: the plan, and the reason for each absent metric. */
#pragma once

#include <json-c/json.h>
#include <stdio.h>

#include "daemon/plan/plan.h"

/* For people. */
void plan_report_text(const struct plan *plan, FILE *out);

/* The same as JSON on one line. Its keys are fixed: uncored(8). */
void plan_report_json(const struct plan *plan, FILE *out);

/* Parts of the plan that the daemon's state also has, for json_object_put(3): the boxes of @socket,
 * and the PMUs and events that cannot be used. */
struct json_object *plan_report_socket(const struct plan *plan, unsigned socket);
struct json_object *plan_report_missing(const struct plan *plan);
