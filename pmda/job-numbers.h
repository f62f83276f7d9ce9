/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of runs of jobs. Numbers of instances are made from them. A number is a hash of what
 * identifies the run, so each agent finds the same number, even after a restart. If another run has
 * this number, the run takes and keeps the next free number. Runs that have ended keep their
 * numbers for a while, so that no tool takes the next run for them.
 */
#pragma once

#include "client/jobstore/open-runs.h"

enum { JOB_NUMBERS = 1 << 26 };

/* Writes the number of each run, 0 to JOB_NUMBERS - 1, to @ret_numbers. */
void job_numbers_give(const struct open_runs *runs, unsigned ret_numbers[]);
