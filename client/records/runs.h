/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds which records may be summed. A record counts all traffic of its host, so two records of one
 * host are never summed, whatever names it has there (machines.h). If their times do not overlap,
 * they are of different runs. If they overlap, as those of two job steps, or of a rank that is
 * alone beside its team, each includes the bytes of both: these records are in no run.
 *
 * Clocks of hosts differ, so times of different hosts are compared as little as possible. Records
 * of several hosts are of one run if they have the same job and step, and the same place in the
 * order of their hosts. A batch system's job has a key instead of a step; without one, its nodes
 * are of one run if their times overlap. It has one record for each host and run, and the longest
 * one if a machine has several host names.
 */
#pragma once

#include "client/records/steps.h"
#include "client/report/record.h"

enum { RUNS_APART = UINT32_MAX };

struct runs {
	uint32_t n_machines;
	uint32_t n_runs; /* by the time at which they began */
	uint32_t *of;    /* owned; the run of each record, or RUNS_APART */
};

/* Also sets .machine, .step_number and .beside of the records. 0; -ENOMEM. */
int runs_find(struct record *records, uint32_t n_records, struct runs *ret);

/* Puts all records into one run, for a caller that knows it from runs_find(). The same. */
int runs_one(struct record *records, uint32_t n_records, struct runs *ret);

void runs_done(struct runs *runs);
