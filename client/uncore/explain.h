/* SPDX-License-Identifier: BSD-3-Clause */
/* What there is to say on one metric of this machine, and on all platforms. */
#pragma once

#include <stdbool.h>

struct json_object;

/* How @metric is computed here, from the daemon's state @info. False: this platform has no such. */
bool explain_metric(struct json_object *info, const char *metric);

/* @list: what uncore_platforms() says. */
void explain_platforms(struct json_object *list);
