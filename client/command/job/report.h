/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore job report: the records of a job of a batch system, one run after the other. */
#pragma once

#include <stdio.h>

#include "client/command/report/found.h"

struct jsonwriter;

/* A record of another job. */
struct met {
	char job[sizeof((struct record *)NULL)->job], host[sizeof((struct record *)NULL)->host];
	int64_t uid, begun_ns, ended_ns;
	int64_t first_ns, last_ns; /* as of its record */
};

/* All that is read. */
struct job_found {
	struct found_files found;
	char *from_stdin; /* owned; it is read once */
	bool others;      /* now those of other jobs on these hosts are read, and nothing is said */
	struct names hosts; /* owned; of the job */
	size_t n_met;
	struct met *met; /* owned */
};

/* One run, joined. */
struct job_report {
	const struct job_found *of;
	const struct join *join;
	int64_t first_ns, last_ns; /* the time in which it was open */
	char *notes;               /* owned; lines */
};

/* For struct found_reader. */
bool job_report_wants(const struct found_files *found, const char *name);
void job_report_read(struct found_files *found, const struct json_file *file);
void job_report_meet(const struct found_files *found, struct record *record);

/* Drops those that are there twice, as in a log and in a file. */
void job_report_sort_met(struct job_found *of);

/* The other jobs that were on these hosts during the run. */
void job_report_print_met(FILE *out, const struct job_report *report);
void job_report_json_met(struct jsonwriter *json, const struct job_report *report);

/* The element of a report as JSON. For a page, with the counts of each node instead of the records,
 * whose texts it takes. */
void job_report_json(struct jsonwriter *json, const struct job_report *report, bool is_page);
