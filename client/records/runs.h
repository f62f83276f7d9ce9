/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds which records may be summed. A record counts all traffic of its host, so two records of one
 * host are never summed, whatever names it has there (machines.h). If their times do not overlap,
 * they are of different runs. If they overlap, as those of two job steps, or of a rank that is
 * alone beside its team, each includes the bytes of both: these records are in no run.
 *
 * Clocks of hosts differ, so times of different hosts are compared as little as possible. Records
 * of several hosts are of one run if they have the same job and step, and the same place in the
 * order of their hosts.
 */
#pragma once

#include "client/report/record.h"

enum { RUNS_APART = UINT32_MAX };

struct runs {
	uint32_t n_machines; /* 0: runs_one() did not look */
	uint32_t n_runs;     /* by the time at which they began */
	uint32_t *of;        /* owned; the run of each record, or RUNS_APART */
};

/* Also sets .machine of the records. 0; -ENOMEM. */
int runs_find(struct record *records, uint32_t n_records, struct runs *ret);

/* Puts all records into one run, for a caller that knows it. */
int runs_one(uint32_t n_records, struct runs *ret);

void runs_done(struct runs *runs);

/* The job step of a record, also of a process alone; "": it has none. */
static inline const char *runs_step(const struct record *record)
{
	return *record->team ? record->team : record->step;
}
