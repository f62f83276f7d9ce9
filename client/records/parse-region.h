/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of parse.h that reads a region, and figures that other documents have, too. */
#pragma once

#include "client/records/json-reader.h"
#include "client/report/record.h"

/* @record must have its metrics already. *@ret must be empty; it goes to record_done(), also after
 * a failure. */
void parse_region(struct json_reader *reader, struct json_object *object,
	const struct record *record, struct record_region *ret);

/* The member "metrics" of @socket. */
void parse_values(struct json_reader *reader, struct json_object *socket,
	const struct record *record, struct record_socket *ret);

/* Larger counts are refused: 1e18 bytes, or ns, which are 31 years. Sums of many stay in range. */
#define PARSE_COUNT_MOST UINT64_C(1000000000000000000)

enum { PARSE_SOCKETS_MOST = 1024 };
