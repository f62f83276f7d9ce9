/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncore stat` knows while it runs its command, once or several times. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "client/command/frame/child.h"
#include "client/command/frame/standing.h"
#include "client/command/frame/total.h"
#include "client/command/frame/written.h"
#include "client/command/page/page.h"
#include "client/command/stat/course.h"
#include "client/command/stat/stat-options.h"
#include "client/command/stat/until.h"
#include "client/libuncore/uncore.h"
#include "client/reader/reader.h"

struct stat_run {
	struct stat_options options;
	struct child_signals signals;
	bool signals_taken;
	struct written file; /* without -o it is not open */
	FILE *out;           /* that of .file, or stderr's copy, which is owned */
	struct reader reader;
	struct readout before, now;  /* of the run */
	struct readout last;         /* the end of the interval before this one */
	const struct readout *since; /* the begin of this one: .before or .last */
	struct standing *standing;   /* owned; boxes that stood at 0 in a run */
	uint32_t n_standing;
	struct parts parts;
	struct total total;
	struct total cut;  /* the last run of several, if a signal cut it short; .runs 0: none */
	struct total idle; /* what the sockets did before the first run */
	struct until until;
	struct page page; /* .path NULL: none */
	struct course course;
	struct {
		struct written file;       /* .out NULL: none */
		bool *is_described;        /* owned; each value of each row; NULL: no row is */
		uint64_t n_runs, ahead_ns; /* CLOCK_BOOTTIME - the readings' clock */
	} trace;
	struct timespec begun;     /* CLOCK_REALTIME of the first run's first reading */
	uint64_t started_ns;       /* CLOCK_MONOTONIC of the same; 0: not yet */
	uint64_t progress_told_ns; /* 0: not yet */
	uint64_t number, n_warm;   /* of the run, from 1; runs that were not measured */
	uint64_t n_intervals;
	int last_failure;   /* of a reading; 0: the last one succeeded */
	char failure[1024]; /* the last sentence; "": nothing failed */
	bool failed;        /* this run has no result */
	bool unwritten;     /* not all of the output has arrived */
	bool headed;        /* the header of the CSV is written */
};

/*
 * Tells the user what failed, and keeps the text for the result. If JSON goes to stderr, only its
 * last object has the text, so that stderr stays JSON. With --anyway, a failure before anything was
 * measured is told later, together with what happens to the command.
 */
void stat_complain(struct stat_run *run, const char *text);
