/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the JSON of uncore-report(5) back into a record. The text is untrusted, and is changed.
 * Only the command has this: the library has no JSON reader.
 */
#pragma once

#include "client/records/json-reader.h"
#include "client/report/record.h"

/*
 * 0. On failure *ret_record is untouched, and @ret_why is the part of a sentence that follows the
 * name of the file. -ENOMSG: "is not a record of regions", for any other JSON; -EPROTONOSUPPORT: it
 * has another schema; -EBADMSG: a member is wrong; -ENOMEM.
 */
int record_parse(char *text, struct record *ret_record, char ret_why[JSON_READER_WHY_MAX]);

/* The same of a part of a parsed text. */
int record_parse_object(const struct json_value *object, struct record *ret_record,
	char ret_why[JSON_READER_WHY_MAX]);

/* As json_text_parse(), with the end of a sentence. */
int record_parse_json(char *text, struct json_text *ret, char ret_why[JSON_READER_WHY_MAX]);

/* --- parts that other documents have, too --- */

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

/* Free text of less than @size_bytes, for free(3); NULL: there is none, or it failed. */
char *parse_sentences(const struct json_reader *reader, const char *key, size_t size_bytes);

void parse_generation(const struct json_reader *reader, uint64_t ret_generation[2]);

/* Larger counts are refused: 1e18 bytes, or ns, which are 31 years. Sums of many stay in range. */
#define PARSE_COUNT_MOST UINT64_C(1000000000000000000)

enum { PARSE_SOCKETS_MOST = 1024 };
