/* SPDX-License-Identifier: BSD-3-Clause */
/* Records as CSV, for plots: client/report/csv.h. */
#pragma once

#include <stdio.h>

#include "client/records/runs.h"

/* Writes a line of titles; then a line for each node, region, socket and metric, and for each unit
 * of work. @runs: the runs of these records; NULL: it is not known which records may be summed. */
void record_csv(
	FILE *out, const struct record *records, uint32_t n_records, const struct runs *runs);
