/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a job of a batch system, read back: a record with one region, which has the figures
 * of the sockets that the job could use. The text may come from anybody. */
#pragma once

#include "client/jobstore/run.h"
#include "client/records/json-reader.h"
#include "client/report/json.h"

enum {
	JOB_SCHEMA = 1,
	RECORD_MOST_BYTES = 1 << 20, /* more than any record has */
};

/* Is @object such a record, of whatever schema? */
bool job_record_is(const struct json_value *object);

/* As record_parse_object(). The step is the key of the run. */
int job_record_parse(
	const struct json_value *object, struct record *ret, char ret_why[JSON_READER_WHY_MAX]);

/* --- the name of its file --- */

/* As record_time_ms(), without characters that are special to a shell or to scp(1):
 * "20261121T224501.123Z". */
void job_record_time_in_name(int64_t real_ns, char ret_text[RECORD_TIME_MAX]);

/* Does a file's name agree with its record? Names are ID@BEGIN.json, ID@BEGIN.2.json and
 * ID@HOST.json; a name without "@" agrees with any record. A record without a begin has the time of
 * its end. */
bool job_record_is_named(const char *file, const struct record *record);
