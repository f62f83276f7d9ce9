/* SPDX-License-Identifier: BSD-3-Clause */
/* The rates of an interval in one line of at most 80 characters, the sockets side by side. */
#pragma once

#include "client/command/stat/stat-run.h"

/* With a heading before the first line, and on a terminal before further ones. With parts of
 * sockets each of them has a line. */
void columns_print(struct stat_run *run, const struct total *interval, uint64_t time_ns);

/* The parts of the sockets in the whole run. */
void columns_print_parts(const struct stat_run *run);
