/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains one metric of this machine, and lists all platforms. */
#pragma once

#include <stdbool.h>

struct json_object;

/* Prints how this machine computes @metric, from the daemon's state @info. False: it has no such
 * metric. */
bool explain_metric(struct json_object *info, const char *metric);

/* @list: the JSON of uncore_platforms(). */
void explain_platforms(struct json_object *list);
