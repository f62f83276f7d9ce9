/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The open jobs of the node's batch system (uncored-jobs(7)) as instances: each socket of each job.
 * A user must not see the jobs of others: root is offered all jobs, another user only the user's
 * own jobs, and a client whose user is not known none.
 *
 * Nothing is read before a client asks for these instances. If the agent may not read the folder of
 * jobs, there are none.
 */
#pragma once

#include <stdint.h>

#include "client/jobstore/folder.h"
#include "pmda/contexts.h"
#include "pmda/view.h"

struct job {
	const struct run *run;
	unsigned socket;
};

/* Finds the open jobs. Call it before the snapshot, which must not be older than a job's begin. */
void jobs_look(void);

/* Makes the instances that @context may see; none if it may not be told @view. NULL: unknown. */
void jobs_offer(const struct context *context, const struct view *view);

/* Finds instance @inst; false: there is no such job. Valid until the next look. */
bool jobs_find(unsigned inst, struct job *ret);

/*
 * What the socket has counted of the metric with number @index since the job began. False: nothing
 * is known, because the begin has no reading, or counts were lost since, or there is no such
 * metric.
 */
bool jobs_count(const struct job *job, int index, const struct view *view, uint64_t *ret_count);

void jobs_done(void);
