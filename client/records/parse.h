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
