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
	/* more than there are open runs: one is always of an ended run */
	ENTRIES = 2 * OPEN_RUNS_MAX,
};

static struct folder_runs runs;
static unsigned numbers[OPEN_RUNS_MAX]; /* of the runs */

/* The instances. Most of this is never touched, so it takes little memory. */
static pmdaInstid set[INSTANCES_MAX];
static char names[INSTANCES_MAX][NAME_BYTES];

/* --- numbers --- */

/*
 * Numbers of instances are made from the numbers of runs. A number is a hash of what identifies the
 * run, so each agent finds the same number, even after a restart. If another run has this number,
 * the run takes and keeps the next free number. Runs that have ended keep their numbers for a
 * while, so that no tool takes the next run for them.
 */
struct entry {
	uint64_t identity;
	uint64_t seen; /* the look in which the run was last seen; 0: a free entry */
	unsigned number;
};

static struct entry entries[ENTRIES];
static uint64_t n_looks;

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *data, size_t n)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t identity_of(const struct run *run)
{
	uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), run->head.id, strlen(run->head.id));

	hash = mix(hash, &run->head.begun_ns, sizeof run->head.begun_ns);
	return mix(hash, &run->head.begun_real_ns, sizeof run->head.begun_real_ns);
}

static struct entry *find_entry(uint64_t identity)
{
	for (size_t i = 0; i < ENTRIES; i++)
		if (entries[i].seen && entries[i].identity == identity)
			return &entries[i];
	return NULL;
}

static bool is_taken(unsigned number)
{
	for (size_t i = 0; i < ENTRIES; i++)
		if (entries[i].seen && entries[i].number == number)
			return true;
	return false;
}

/* Replaces the entry that was last seen longest ago. */
static struct entry *jobs_add_entry(uint64_t identity)
{
	struct entry *oldest = &entries[0];
	unsigned number = (unsigned)(identity % NUMBERS);

	while (is_taken(number))
		number = (number + 1) % NUMBERS;
	for (size_t i = 1; i < ENTRIES; i++)
		if (entries[i].seen < oldest->seen)
			oldest = &entries[i];
	*oldest = (struct entry){ .identity = identity, .number = number };
	return oldest;
}

/* Known runs come first: a new run must not replace the entry of a run that is still open. */
static void give_numbers(void)
{
	n_looks++;
	for (size_t i = 0; i < runs.n; i++) {
		struct entry *entry = find_entry(identity_of(&runs.all[i]));

		if (entry)
			entry->seen = n_looks;
	}
	for (size_t i = 0; i < runs.n; i++) {
		uint64_t identity = identity_of(&runs.all[i]);
		struct entry *entry = find_entry(identity);

		if (!entry)
			entry = jobs_add_entry(identity);
		entry->seen = n_looks;
		numbers[i] = entry->number;
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
