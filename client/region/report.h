/* SPDX-License-Identifier: BSD-3-Clause */
/* The report on the regions of a team, as a table on stderr or as JSON in a file. */
#pragma once

#include "client/region/regions.h"

/* 0, or negative errno with a sentence. @loaded_ns (CLOCK_REALTIME): when the program began. */
int report_write_json(const struct regions *regions, const char *path, uint64_t loaded_ns);
int report_write_table(const struct regions *regions);
