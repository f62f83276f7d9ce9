/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of runs of jobs, from which those of instances are made. A number is made of what tells
 * the run from all others, so each agent finds the same one, also after it was started anew. If
 * another run has it, the next free one is taken and kept. Runs that have gone keep their numbers
 * for a while, so that no tool takes the next run for them.
 */
#pragma once

#include "client/jobstore/open-runs.h"

enum { JOB_NUMBERS = 1 << 26 };

/* @ret_numbers has room for each of the runs, and gets their numbers, 0 to JOB_NUMBERS - 1. */
void job_numbers_give(const struct open_runs *runs, unsigned ret_numbers[]);
