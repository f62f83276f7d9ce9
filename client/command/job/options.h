/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `uncore job`. */
#pragma once

#include <stdbool.h>

#include "client/command/frame/user.h"
#include "client/command/job/job.h"
#include "client/launcher/hostlist.h"

enum job_verb { JOB_BEGIN, JOB_END, JOB_LIST, JOB_SHOW, JOB_REPORT, JOB_VERBS };

struct job_options {
	enum job_verb verb;
	struct job_wish wish;
	char exit[64];       /* what wish.exit refers to */
	char to[RUN_TO_MAX]; /* ... wish.to */
	bool quiet;
	bool json, csv;
	const char *html;      /* of a report: a page, or NULL */
	bool nodes;            /* of a report: each one */
	bool all;              /* of a report: all runs */
	struct hostlist hosts; /* owned; of a report */
	struct trust trust;    /* of a report: of files in folders */
	char **paths;
	int n_paths;
};

/* Returns -1 to go on, or the exit status. *@ret is for job_options_done() in any case. */
int job_options_parse(int argc, char **argv, struct job_options *ret);
void job_options_done(struct job_options *options);

/* Prints the open jobs of this host. Returns the exit status. */
int job_list(const struct job_options *options);

/* Prints what an open job's node has moved so far. Returns the exit status. */
int job_show(const struct job_options *options);

/* "uncore job begin" */
const char *job_verb_title(enum job_verb verb);
