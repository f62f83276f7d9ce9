/* SPDX-License-Identifier: BSD-3-Clause */
/* Explains one metric of this machine, and lists all platforms. */
#pragma once

#include <stdbool.h>

struct json_object;

/* How @metric is computed here, from the daemon's state @info. False: there is none here. */
bool explain_metric(struct json_object *info, const char *metric);

/* @list: the JSON of uncore_platforms(). */
void explain_platforms(struct json_object *list);
