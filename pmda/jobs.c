/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/jobs.h"

#include <pcp/pmapi.h>
#include <stdlib.h>

#include "pmda/instances.h"
#include "pmda/job-numbers.h"

enum {
	ROOT = 0,
	SOCKETS_MAX = PACKAGES_MAX, /* the lowest part of an instance's number */
	NAME_BYTES = JOB_ID_BYTES + sizeof "/socket31",
};

static struct open_runs runs;
static unsigned numbers[OPEN_RUNS_MAX]; /* of the runs */

/* The instances. */
static pmdaInstid *set;
static char (*names)[NAME_BYTES];

/* --- open jobs --- */

static void say_too_many(void)
{
	static bool told;

	if (!told)
		pmNotifyErr(LOG_WARNING,
			"More than %d jobs are open. uncore.job.* has the %d that began first.",
			OPEN_RUNS_MAX, OPEN_RUNS_MAX);
	told = true;
}

void jobs_look(void)
{
	open_runs_done(&runs);
	open_runs_read(FOLDER_PATH, &runs); /* without the folder there are none */
	job_numbers_give(&runs, numbers);
	if (runs.has_more)
		say_too_many();
}

static void free_instances(void)
{
	instances_indoms[JOBS_INDOM].it_numinst = 0;
	instances_indoms[JOBS_INDOM].it_set = NULL;
	free(set);
	free(names);
	set = NULL;
	names = NULL;
}

void jobs_done(void)
{
	free_instances();
	open_runs_done(&runs);
}

/* --- instances for a client --- */

static bool may_see(const struct context *context, const struct open_run *run)
{
	return context->uid != UNCORE_UNKNOWN_USER &&
	       (context->uid == ROOT || context->uid == run->uid);
}

static void offer(unsigned number, const struct open_run *run, unsigned n_sockets)
{
	pmdaIndom *indom = &instances_indoms[JOBS_INDOM];

	for (unsigned i = 0; i < n_sockets; i++) {
		int n = indom->it_numinst++;

		snprintf(names[n], sizeof names[n], "%s/socket%u", run->id, i);
		set[n] = (pmdaInstid){ (int)(number * SOCKETS_MAX + i), names[n] };
	}
}

void jobs_offer(const struct context *context, const struct view *view)
{
	unsigned n_sockets = view->reader.machine.n_sockets;

	free_instances();
	if (!context || context->admission != ADMITTED || n_sockets > SOCKETS_MAX)
		return;
	set = calloc(runs.n * n_sockets + 1, sizeof *set);
	names = calloc(runs.n * n_sockets + 1, sizeof *names);
	instances_indoms[JOBS_INDOM].it_set = set;
	for (size_t i = 0; set && names && i < runs.n; i++)
		if (may_see(context, &runs.all[i]))
			offer(numbers[i], &runs.all[i], n_sockets);
}

bool jobs_find(unsigned inst, struct job *ret)
{
	for (size_t i = 0; i < runs.n; i++)
		if (numbers[i] == inst / SOCKETS_MAX) {
			*ret = (struct job){ &runs.all[i], inst % SOCKETS_MAX };
			return true;
		}
	return false;
}

/* --- counts --- */

/* After a reset of a counter the count would be too low, and a value here has no flag to say so. */
bool jobs_count(const struct job *job, int index, const struct view *view, uint64_t *ret_count)
{
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	const struct open_run *run = job->run;

	if (index < 0 || run->n_samples != view->reader.machine.n_sockets ||
		uncore_delta(&run->samples[job->socket], &view->readout.samples[job->socket],
			&delta) < 0)
		return false;
	if ((uint32_t)index >= delta.n_values ||
		delta.values[index].quality & (UNCORE_ABSENT | UNCORE_RESET))
		return false;
	*ret_count = delta.values[index].count;
	return true;
}
