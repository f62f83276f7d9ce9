/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The open runs of a folder, with their readings of the begin, for a process that only reads. It
 * takes no lock and does not wait. Files come, go and change meanwhile, so a run that begins or
 * ends at this moment may be included or not. Files that cannot be read, or that another release
 * made, are skipped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/jobstore/folder.h"
#include "client/jobstore/packages.h"
#include "client/libuncore/uncore.h"

enum { OPEN_RUNS_MAX = 256 };

struct open_run {
	char id[JOB_ID_BYTES];
	uint32_t uid;
	int64_t begun_real_ns; /* CLOCK_REALTIME, to show */
	uint64_t begun_ns;     /* CLOCK_MONOTONIC; with the ID it identifies the run */
	struct packages packages;
	uint32_t n_samples;            /* one for each socket; 0: the begin has no reading */
	struct uncore_sample *samples; /* owned */
};

struct open_runs {
	size_t n;
	struct open_run *all; /* in the order of their begin */
	bool has_more;        /* there are more than OPEN_RUNS_MAX; these began first */
};

/* *@ret is for open_runs_done() also on failure, and empty then. -ENOMEM; errors of open(2). */
int open_runs_read(const char *folder_path, struct open_runs *ret);
void open_runs_done(struct open_runs *runs);
