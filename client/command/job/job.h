/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The begin and the end of a run. A job is a sample in a file. uncored's totals are cumulative and
 * carry their generation, so the difference to a later sample is all that the job's node has moved
 * in between, even if uncored was killed meanwhile. uncored itself keeps nothing of a job.
 *
 * A begin first puts the run in place, still without a reading, like a begin that was killed. From
 * then on, other jobs count it as open. Then the begin takes the reading. An end first takes the
 * reading, decides on the record and keeps it with the run. Then it writes the record. So whenever
 * a process dies, the next end finds one record to write, and other ends of the run write the same
 * again. Every later begin and end tries to write what an end could not write (waiting.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/jobstore/folder.h"
#include "client/jobstore/packages.h"
#include "client/jobstore/run.h"

struct job_wish {
	const char *folder_path;
	const char *spool_path;  /* of records that wait; NULL: none */
	const char *socket_path; /* as for uncore_open() */
	const char *id;          /* is valid */
	const char *key;         /* of the run: valid, or NULL */
	uint32_t uid;            /* of a begin */
	struct packages packages;
	const char *to;   /* of an end: the folder for its file (record-file.h), from the root, or
			     NULL */
	const char *exit; /* of an end: plain text, or NULL */
};

/* What to tell the user, in sentences; "": nothing. */
struct job_said {
	char error[RUN_WHY_MAX];  /* what the administrator has to know: why it failed */
	char remark[RUN_WHY_MAX]; /* what makes the record less than complete */
	char file[RUN_WHY_MAX];   /* what the record's file lacks */
};

/* 0: the run is open, perhaps without a reading, or it was already open with the same key. Negative
 * errno: there is no such run; *@ret_said says why. */
int job_begin(const struct job_wish *wish, struct job_said *ret_said);

/*
 * Writes the record of the run, and the unwritten records of earlier runs of the ID, to stdout and
 * into @wish->to. An open run with another key stays open. 0; negative errno: not all was written;
 * *@ret_said says why.
 */
int job_end(const struct job_wish *wish, struct job_said *ret_said);

/* Returns @error, and explains the failure of the folder in @said. */
int job_say_folder(const struct job_wish *wish, int error, struct job_said *said);

/* The same on stderr, after @title. Returns the exit status. */
int job_fail(const char *title, const struct job_wish *wish, int error);

/* How long a process waits for uncored, and for other processes that use the folder. */
#define JOB_PATIENCE_NS UINT64_C(1000000000)

/* May a call be repeated that failed with @error because another process works on the job? Waits a
 * moment. */
bool job_may_retry(int error, uint64_t deadline_ns);

/*
 * If only the owner of the running job may read (owner_only of uncored.conf), tells uncored the
 * user of all open jobs, or that no single user has all of them. A failure is a remark: the former
 * owner stays until the next begin or end.
 */
void job_owner_follow(int folder_fd, const char *socket_path, struct job_said *said);
