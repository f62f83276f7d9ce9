/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which records may be summed. Each counts all that its host did, so two of one host never are. If
 * their times do not overlap they are of different runs. If they do, as of two job steps, or of a
 * rank that is alone beside its team, each counts the bytes of both: these are in no run.
 *
 * Only times of one host are compared, as far as that is possible: clocks of hosts differ. Records
 * of several hosts are of one run if they have the same job and step, and their places in the order
 * of their hosts agree.
 */
#pragma once

#include "client/report/record.h"

enum { RUNS_APART = UINT32_MAX };

struct runs {
	uint32_t n_runs; /* by the time at which they began */
	uint32_t *of;    /* owned: of each record its run, or RUNS_APART */
};

/* 0; -ENOMEM. */
int runs_find(const struct record *records, uint32_t n_records, struct runs *ret);

/* All are of one run: the caller knows. */
int runs_one(uint32_t n_records, struct runs *ret);

void runs_done(struct runs *runs);

/* The job step of a record, also of a process alone; "": it has none. */
static inline const char *runs_step(const struct record *record)
{
	return *record->team ? record->team : record->step;
}
