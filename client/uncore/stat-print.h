/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of `uncore stat`, and its output. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/uncore.h"
#include "client/uncore/child.h"
#include "client/uncore/stat-options.h"
#include "client/uncore/total.h"

struct stat_run {
	struct stat_options options;
	struct child_signals signals;
	FILE *out;
	struct uncore *handle;
	struct uncore_machine machine;
	struct uncore_sample *before; /* of the run; one per socket, as are the next two */
	struct uncore_sample *since;  /* of the interval */
	struct uncore_sample *now;
	struct total total;
	uint64_t started_ns; /* when the first run's first reading was taken; 0: not yet */
	uint64_t number;     /* of the run, from 1 */
	uint64_t n_intervals;
	int last_failure;   /* of a reading; 0: the last one succeeded */
	char failure[1024]; /* the last sentence; "": nothing failed */
	bool failed;        /* this run has no result */
	bool unwritten;     /* not all of the output has arrived */
};

/* Tells the user what failed, and keeps the text for the result. If JSON goes to stderr, only its
 * last object has the text, so that stderr stays JSON. */
void stat_complain(struct stat_run *run, const char *text);

/* Writes out what was printed; notes in @run if that fails. */
void stat_flush(struct stat_run *run);

/* The interval from run->since to run->now. */
void stat_print_interval(struct stat_run *run);

/* The run as a whole. */
void stat_print_result(struct stat_run *run);

/* When a reading was complete. */
uint64_t stat_reading_ns(const struct stat_run *run, const struct uncore_sample samples[]);
