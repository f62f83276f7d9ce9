/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncore stat --trace`: the course of a run for ui.perfetto.dev, written as it happens. */
#pragma once

#include "client/command/stat/stat-run.h"

/* 0; -1 after a sentence. All functions do nothing without --trace. */
int stat_trace_open(struct stat_run *run);

/* A run begins with the reading run->since, and ends with it when the last interval is over. */
void stat_trace_begin(struct stat_run *run);
void stat_trace_end(struct stat_run *run);

/* The rates of an interval, in CLOCK_MONOTONIC of the node. */
void stat_trace_note(struct stat_run *run, const struct total *interval, struct course_point time);

/* Ends the file; notes in .unwritten if not all has arrived. */
void stat_trace_done(struct stat_run *run);
