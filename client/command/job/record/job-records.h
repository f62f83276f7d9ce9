/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of a job from files and logs, and its runs. The key tells runs of one ID apart.
 * Without a key, the time does: two runs of a job are never open at once, and one run has one
 * record on each host.
 */
#pragma once

#include "client/command/frame/user.h"
#include "client/records/job-record.h"
#include "client/records/join.h"

struct job_records {
	const char *id; /* keep the texts of this job alone; NULL: of all jobs */
	size_t n;
	struct job_record *all; /* owned */
	struct join join;       /* owned; the records of this job, folded as they came */
	bool others;            /* those of other jobs on these hosts are read */
	bool failed;            /* something could not be read */
};

/* The records of one run. */
struct job_run {
	size_t n;
	struct job_record **records; /* owned; the elements are of struct job_records */
	struct names hosts;          /* owned; of the records, and other names of their machines */
	char *machines;              /* owned; lines: of machines that have several names */
	char key[JOB_KEY_BYTES];     /* "": none */
	int64_t begin_ns, end_ns;
};

struct job_runs {
	size_t n;
	struct job_run *all; /* owned; the last is the latest */
};

/*
 * Reads all records of files, of files *.json in folders, and of stdin ("-"), each record on a
 * line. In a folder, the name of a file must agree with its record. stderr says what cannot be
 * read. Duplicate records are kept once. Of the files JOB@... of other jobs, only JOB@HOST.json of
 * the job's hosts are read.
 */
void job_records_read(
	struct job_records *records, char **paths, int n_paths, const struct trust *trust);

/* Reads lines of @text in the same way, and changes @text. Messages call the source @name. */
void job_records_take(struct job_records *records, const char *name, char *text);

/* Sorts the records, and drops duplicates. */
void job_records_drop_twins(struct job_records *records);

void job_records_done(struct job_records *records);

/* The runs of @id. 0; -ENOMEM. */
int job_runs_find(struct job_records *records, const char *id, struct job_runs *ret);
void job_runs_done(struct job_runs *runs);

/* Was @record open on a host of @run while the run was open? */
bool job_run_met(const struct job_run *run, const struct job_record *record);
