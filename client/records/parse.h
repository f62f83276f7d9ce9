/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the JSON of uncore-report(5) back into a record. The text is untrusted. Only the command
 * has this: the library has no JSON reader.
 */
#pragma once

#include "client/records/json-reader.h"
#include "client/report/record.h"

/*
 * 0. On failure *ret_record is untouched, and @ret_why is the part of a sentence that follows the
 * name of the file. -ENOMSG: "is not a record of regions", for any other JSON; -EPROTONOSUPPORT: it
 * has another schema; -EBADMSG: a member is wrong; -ENOMEM.
 */
int record_parse(const char *text, struct record *ret_record, char ret_why[JSON_READER_WHY_MAX]);

/* The same for a record or an array of records. Adds all of them to @list, or none. Also -E2BIG:
 * there are too many. */
int record_list_parse(
	const char *text, struct record_list *list, char ret_why[JSON_READER_WHY_MAX]);

/* Parses any JSON, with only blanks after it. *@ret is for json_object_put(). -EBADMSG; -ENOMEM. */
int record_parse_json(
	const char *text, struct json_object **ret, char ret_why[JSON_READER_WHY_MAX]);
