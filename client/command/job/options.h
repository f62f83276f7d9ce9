/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `uncore job`. */
#pragma once

#include <stdbool.h>

#include "client/command/job/job.h"
#include "client/command/report/report-options.h"

enum job_verb { JOB_BEGIN, JOB_END, JOB_LIST, JOB_SHOW, JOB_REPORT, JOB_VERBS };

struct job_options {
	enum job_verb verb;
	struct job_wish wish;
	char exit[64];       /* what wish.exit refers to */
	char to[RUN_TO_MAX]; /* ... wish.to */
	bool quiet;
	bool json;
	int argc; /* from the verb on */
	char **argv;
};

/* Returns -1 to go on, or the exit status. */
int job_options_parse(int argc, char **argv, struct job_options *ret);

/* Prints the open jobs of this host. Returns the exit status. */
int job_list(const struct job_options *options);

/* Prints what an open job's node has moved so far. Returns the exit status. */
int job_show(const struct job_options *options);

/* "uncore job begin" */
const char *job_verb_title(enum job_verb verb);
