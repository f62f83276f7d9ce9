/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon says of itself: `uncored --check`, and the JSON behind `uncore info`. */
#pragma once

#include <stdio.h>

#include "daemon/plan/plan.h"
#include "daemon/serve/server.h"

/* Prints what would be opened and what is absent, for people. */
void report_plan_text(const struct plan *plan, FILE *out);

/* The same as JSON on one line. Its keys are fixed: uncored(8). */
void report_plan_json(const struct plan *plan, FILE *out);

/* The whole state as JSON, for free(3); NULL: out of memory. */
char *report_state(const struct server *server);

/* All platforms in @directories as JSON, likewise; @fault says which file is wrong, or "". */
char *report_platforms(const char *const directories[], struct fault *fault);
