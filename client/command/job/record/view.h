/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a run, up to its end or up to now. Either the figures are complete, or a
 * sentence says why there are none. */
#pragma once

#include <stdbool.h>

#include "client/command/frame/total.h"
#include "client/command/job/record/job-reading.h"
#include "client/jobstore/counts.h"
#include "client/jobstore/run.h"

/* When a run ended, and how. */
struct job_end {
	int64_t real_ns;  /* CLOCK_REALTIME; 0: not known, or it goes on */
	uint64_t ns;      /* CLOCK_MONOTONIC; 0: not known */
	const char *exit; /* plain text; NULL: not known */
};

struct job_view {
	const struct run *run;
	const struct counts *counts;
	const struct job_reading *reading; /* NULL: there is none */
	struct job_end end;
	struct uncore_sample *begun; /* owned; the reading of the begin */
	struct total total;          /* owned; of complete figures */
	char why[RUN_WHY_MAX];       /* "": the figures are complete */
};

/* The view is for job_view_done(), and borrows all arguments. */
void job_view_init(struct job_view *ret, const struct run *run, const struct job_reading *reading,
	const struct counts *counts);

/* A view without figures, whatever the readings are. */
void job_view_init_incomplete(struct job_view *ret, const struct run *run, const char *why);

void job_view_done(struct job_view *view);
