/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a job of a batch system, read back: a record with one region, which has the figures
 * of the sockets that the job could use. The text may come from anybody. */
#pragma once

#include "client/jobstore/run.h"
#include "client/records/json-reader.h"
#include "client/report/json.h"
#include "client/report/record-time.h"

enum {
	JOB_SCHEMA = 1,
	RECORD_MOST_BYTES = 1 << 20, /* more than any record has */
};

/* What record_parse_object() does with it. The step is the key of the run. */
void job_record_parse(const struct json_reader *reader, struct record *ret);
