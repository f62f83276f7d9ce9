/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a run, read back. The text may come from anybody. */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/jobstore/id.h"
#include "client/launcher/hostlist.h"
#include "client/records/json-reader.h"
#include "client/report/record.h"

enum { RECORD_MOST_BYTES = 1 << 20 }; /* more than any record has */

/* A socket that the job could use, with figures. */
struct job_socket {
	uint32_t socket;
	int64_t n_others; /* -1: not known */
};

struct job_record {
	struct json_object *json; /* owned; as it was read; NULL: see job_record_drop_figures() */
	char id[JOB_ID_BYTES];
	char key[JOB_KEY_BYTES]; /* "": none */
	char host[HOSTLIST_NAME_MAX];
	int64_t uid;             /* -1: not known */
	char begin[32], end[32]; /* as they are shown; "": not known */
	int64_t begin_ns, end_ns;
	double seconds; /* NAN: not known */
	char exit[64];
	bool complete;
	char why[1024];
	/* One region with the figures of the sockets that the job could use. An incomplete record
	 * has no figures. */
	struct record record;
	uint32_t n_sockets;
	struct job_socket *sockets; /* owned; the same sockets as in the region */
	uint32_t n_unused;          /* sockets that the job could not use */
};

/* Takes a reference on @json. 0; else *@ret is untouched, and @ret_why is like that of
 * record_parse(): -ENOMSG: it is not a record of a job; -EPROTONOSUPPORT; -EBADMSG; -ENOMEM. */
int job_record_parse(
	struct json_object *json, struct job_record *ret, char ret_why[JSON_READER_WHY_MAX]);

/* Frees the large parts; the user, the host and the times stay. */
void job_record_drop_figures(struct job_record *record);

void job_record_done(struct job_record *record);
