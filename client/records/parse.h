/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The JSON of uncore-report(5), read back into a record. The text may come from anybody. Of the
 * command alone: the library has no JSON reader.
 */
#pragma once

#include "client/records/json-reader.h"
#include "client/report/record.h"

/*
 * 0; else *ret_record is untouched, and @ret_why is the part of a sentence that follows the name of
 * the file: -ENOMSG: "is not a record of regions", which any other JSON is; -EPROTONOSUPPORT: it
 * has another schema; -EBADMSG: a member is wrong; -ENOMEM.
 */
int record_parse(const char *text, struct record *ret_record, char ret_why[JSON_READER_WHY_MAX]);

/* The same for a record or an array of records, which are added to @list: all or none. Also -E2BIG:
 * there are too many. */
int record_list_parse(
	const char *text, struct record_list *list, char ret_why[JSON_READER_WHY_MAX]);

/* Any JSON, and blanks behind it; *@ret is for json_object_put(). -EBADMSG; -ENOMEM. */
int record_parse_json(
	const char *text, struct json_object **ret, char ret_why[JSON_READER_WHY_MAX]);
