/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads regions, sockets and other parts that records of regions and of jobs have. */
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

/* Where the socket is and its counts, as all documents have them. */
void parse_socket(
	const struct json_reader *reader, const struct record *record, struct record_socket *ret);

/* Adds a metric of @metrics to the record. Returns the room for its unit; NULL: it failed. */
char *parse_metric(const struct json_reader *metrics, const char *name, struct record *record);

/* Makes it a record of a batch system's job. */
void parse_batch(const struct json_reader *reader, struct record *ret);

/* Free text of less than @size_bytes, for free(3); NULL: there is none, or it failed. */
char *parse_sentences(const struct json_reader *reader, const char *key, size_t size_bytes);

void parse_generation(const struct json_reader *reader, uint64_t ret_generation[2]);

/* Larger counts are refused: 1e18 bytes, or ns, which are 31 years. Sums of many stay in range. */
#define PARSE_COUNT_MOST UINT64_C(1000000000000000000)

enum { PARSE_SOCKETS_MOST = 1024 };
