/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the regions of a record, and their sockets. */
#pragma once

#include "client/records/json-reader.h"
#include "client/report/record.h"

/* @record must have its metrics already. *@ret must be empty; it goes to record_done(), also after
 * a failure. */
void parse_region(
	const struct json_reader *reader, const struct record *record, struct record_region *ret);

/* The figures of each socket, in the list of this name. */
void parse_region_sockets(const struct json_reader *reader, const char *key,
	const struct record *record, struct record_region *ret);

/* Larger counts are refused: 1e18 bytes, or ns, which are 31 years. Sums of many stay in range. */
#define PARSE_COUNT_MOST UINT64_C(1000000000000000000)
