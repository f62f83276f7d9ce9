/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "client/command/stat/stat-run.h"

/* An object in one line; the interval ended @time_ns after the first reading. */
void stat_json_interval(struct stat_run *run, const struct total *interval, uint64_t time_ns);

/* The last object. */
void stat_json_result(struct stat_run *run);
