/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/jobs.h"

#include <errno.h>
#include <pcp/pmapi.h>
#include <string.h>

#include "pmda/instances.h"

enum {
	ROOT = 0,
	OPEN_RUNS_MAX = 256,
	SOCKETS_MAX = PACKAGES_MAX, /* the lowest part of an instance's number */
	NAME_BYTES = JOB_ID_BYTES + sizeof "/socket31",
	INSTANCES_MAX = OPEN_RUNS_MAX * SOCKETS_MAX,
	NUMBERS = 1 << 26,
};

static struct folder_runs runs;
static unsigned numbers[OPEN_RUNS_MAX]; /* of the runs */

/* The instances. Most of this is never touched, so it takes little memory. */
static pmdaInstid set[INSTANCES_MAX];
static char names[INSTANCES_MAX][NAME_BYTES];

/* --- numbers --- */

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *data, size_t n)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* A hash of what identifies the run, so each agent finds the same number, even after a restart. */
static unsigned number_of(const struct run *run)
{
	uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), run->head.id, strlen(run->head.id));

	hash = mix(hash, &run->head.begun_ns, sizeof run->head.begun_ns);
	hash = mix(hash, &run->head.begun_real_ns, sizeof run->head.begun_real_ns);
	return (unsigned)(hash % NUMBERS);
}

/* Has one of the first @n runs this number? */
static bool is_taken(unsigned number, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* Numbers of instances are made from these. The earlier one of two runs keeps its number. */
static void give_numbers(void)
{
	for (size_t i = 0; i < runs.n; i++) {
		numbers[i] = number_of(&runs.all[i]);
		while (is_taken(numbers[i], i))
			numbers[i] = (numbers[i] + 1) % NUMBERS;
	}
}

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
	int r;

	folder_runs_done(&runs);
	/* without the folder there are none */
	r = folder_read_open(FOLDER_PATH, OPEN_RUNS_MAX, &runs);
	give_numbers();
	if (r == -E2BIG)
		say_too_many();
}

void jobs_done(void)
{
	instances_indoms[JOBS_INDOM].it_numinst = 0;
	folder_runs_done(&runs);
}

/* --- instances for a client --- */

static bool may_see(const struct context *context, const struct run *run)
{
	return context->uid != UNCORE_UNKNOWN_USER &&
	       (context->uid == ROOT || context->uid == run->head.uid);
}

static void offer(unsigned number, const struct run *run, unsigned n_sockets)
{
	pmdaIndom *indom = &instances_indoms[JOBS_INDOM];

	for (unsigned i = 0; i < n_sockets; i++) {
		int n = indom->it_numinst++;

		snprintf(names[n], sizeof names[n], "%s/socket%u", run->head.id, i);
		set[n] = (pmdaInstid){ (int)(number * SOCKETS_MAX + i), names[n] };
	}
}

void jobs_offer(const struct context *context, const struct view *view)
{
	unsigned n_sockets = view->reader.machine.n_sockets;

	instances_indoms[JOBS_INDOM].it_numinst = 0;
	instances_indoms[JOBS_INDOM].it_set = set;
	if (!context || context->admission != ADMITTED || n_sockets > SOCKETS_MAX)
		return;
	for (size_t i = 0; i < runs.n; i++)
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
	const struct run *run = job->run;

	if (index < 0 || !run->samples || run->head.n_sockets != view->reader.machine.n_sockets ||
		uncore_delta(&run->samples[job->socket], &view->readout.samples[job->socket],
			&delta) < 0)
		return false;
	if ((uint32_t)index >= delta.n_values ||
		delta.values[index].quality & (UNCORE_ABSENT | UNCORE_RESET))
		return false;
	*ret_count = delta.values[index].count;
	return true;
}
