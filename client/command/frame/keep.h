/* SPDX-License-Identifier: BSD-3-Clause */
/* The last report of this machine, for `uncore info`. */
#pragma once

#include <json-c/json.h>

#define KEEP_PATH "/var/lib/uncored/validated.json"

/* Writes @report to KEEP_PATH, readable by all. 0, or negative errno after a sentence on stderr. */
int keep_report(struct json_object *report);
