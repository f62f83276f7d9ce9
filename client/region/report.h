/* SPDX-License-Identifier: BSD-3-Clause */
/* The report on all regions of a process, as a table on stderr or as JSON in a file. */
#pragma once

#include "client/region/regions.h"

/* meter.lock (for reading) and table_lock are held. 0, or negative errno with a sentence. */
int report_write_json(const struct regions *regions, const char *path);
int report_write_table(const struct regions *regions);
