/* SPDX-License-Identifier: BSD-3-Clause */
/* Records as CSV (RFC 4180, with newlines of Unix), for plots. */
#pragma once

#include <stdio.h>

#include "client/records/runs.h"

/* A line of titles; then one for each node, region, socket and metric, and for each unit of work.
 * @runs, of these records: NULL: it is not known which may be summed. */
void csv_write(
	FILE *out, const struct record *records, uint32_t n_records, const struct runs *runs);
