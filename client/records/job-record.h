/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a run, read back. The text may come from anybody. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/jobstore/run.h"
#include "client/launcher/hostlist.h"
#include "client/records/json-reader.h"
#include "client/report/json.h"

enum {
	JOB_SCHEMA = 1,
	RECORD_MOST_BYTES = 1 << 20, /* more than any record has */
};

struct job_record {
	char *text; /* owned; as it was read; NULL: it was dropped */
	char id[JOB_ID_BYTES];
	char key[JOB_KEY_BYTES]; /* "": none */
	char host[HOSTLIST_NAME_MAX];
	int64_t uid;              /* -1: not known */
	int64_t begin_ns, end_ns; /* 0: not known */
	double seconds;           /* NAN: not known */
	char exit[64];
	bool complete;
	uint64_t generation[2]; /* 0: not known */
	bool is_aside;          /* of a machine of which another record is taken */
	uint32_t n_unused;      /* sockets that the job could not use */
	/* One region with the figures of the sockets that the job could use. An incomplete record
	 * has no figures. */
	struct record *record; /* owned; NULL: see job_record_drop_figures() */
};

/* Changes @text. 0; else *@ret is untouched, and @ret_why is like that of record_parse(): -ENOMSG:
 * it is not a record of a job; -EPROTONOSUPPORT; -EBADMSG; -ENOMEM. */
int job_record_parse(char *text, struct job_record *ret, char ret_why[JSON_READER_WHY_MAX]);

/* Is @object such a record, of whatever schema? */
bool job_record_is(const struct json_value *object);

/* The figures alone, of a part of a parsed text; as job_record_parse(). */
int job_record_parse_figures(
	const struct json_value *object, struct record *ret, char ret_why[JSON_READER_WHY_MAX]);

/* Frees the large parts, and reads them again from the text. 0; -ENOMEM. */
void job_record_drop_figures(struct job_record *record);
int job_record_read_again(const struct job_record *record, struct job_record *ret);

void job_record_done(struct job_record *record);
