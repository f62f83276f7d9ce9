/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows for other programs: one for each metric of each socket, and of all sockets together.
 * uncore(1) explains the columns. */
#pragma once

#include "client/command/stat/stat-run.h"

/* The interval ended @time_ns after the first reading. */
void stat_csv_interval(struct stat_run *run, const struct total *interval, uint64_t time_ns);

/* The last rows; the wall time is one of them. */
void stat_csv_result(struct stat_run *run);
