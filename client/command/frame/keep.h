/* SPDX-License-Identifier: BSD-3-Clause */
/* The last report of this machine, for `uncore info`. */
#pragma once

#define KEEP_PATH "/var/lib/uncored/validated.json"

/* Writes @report to KEEP_PATH, readable by all. 0, or negative errno after a sentence on stderr. */
int keep_report(const char *report);
