/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncored --check` prints: what would be opened, and what is absent. */
#pragma once

#include <json-c/json.h>
#include <stdio.h>

#include "daemon/plan/plan.h"

/* For people. */
void plan_report_text(const struct plan *plan, FILE *out);

/* The same as JSON on one line. Its keys are fixed: uncored(8). */
void plan_report_json(const struct plan *plan, FILE *out);

/* Parts of it that the state of the daemon has, too, for json_object_put(3): the boxes of @socket,
 * and what was looked for and cannot be used. */
struct json_object *plan_report_socket(const struct plan *plan, unsigned socket);
struct json_object *plan_report_missing(const struct plan *plan);
