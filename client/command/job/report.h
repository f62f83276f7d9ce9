/* SPDX-License-Identifier: BSD-3-Clause */
/* The report on a job from the records of its hosts: each host and socket, sums, imbalance, and
 * what is missing. */
#pragma once

#include <stdio.h>

#include "client/command/job/options.h"
#include "client/command/job/record/job-records.h"
#include "client/records/join.h"

/* One run, joined. */
struct job_report {
	const struct job_run *run; /* its records are in the order of their hosts */
	struct join join;          /* its records are in the same order */
	const struct hostlist *expected;
	char *notes;                   /* owned; lines */
	const struct job_record **met; /* owned; other jobs on these hosts at that time */
	size_t n_met;
};

/* Prints the report. Returns the exit status. */
int job_report(const struct job_options *options);

/* Joins @run. Returns the number of hosts without a complete record; -ENOMEM; -E2BIG. *@ret is for
 * job_report_done() in any case. */
int job_report_make(struct job_records *records, const struct job_run *run,
	const struct hostlist *expected, struct job_report *ret);
void job_report_done(struct job_report *report);

/* @nodes: print each node, even if they are many. 0; -ENOMEM. */
int job_report_print(FILE *out, const struct job_report *report, bool nodes);

/* Lines without titles. 0; -ENOMEM. */
int job_report_csv(FILE *out, const struct job_run *run);

/* The element of a report in JSON. Takes the texts out of the records. */
void job_report_json(struct jsonwriter *json, const struct job_report *report);

/* The same for a page: with join_json_counts() in the place of the records. It leaves the texts. */
void job_report_json_short(struct jsonwriter *json, const struct job_report *report);
