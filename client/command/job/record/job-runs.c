/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/job/record/job-records.h"
#include "client/records/machines.h"
#include "common/array.h"
#include "common/macro.h"

/*
 * A record without a begin or without an end is only a moment. On the hosts of one run, the begins
 * are at most this far apart, and so are the ends.
 */
static const int64_t NEAR_NS = 5000000000;

void job_runs_done(struct job_runs *runs)
{
	for (size_t i = 0; i < runs->n; i++) {
		free(runs->all[i].records);
		names_done(&runs->all[i].hosts);
		free(runs->all[i].machines);
	}
	free(runs->all);
	*runs = (struct job_runs){ .n = 0 };
}

/* The time in which a record was open, as far as it is known. */
static int64_t first_ns(const struct job_record *record)
{
	return record->begin_ns ? record->begin_ns : record->end_ns - NEAR_NS;
}

static int64_t last_ns(const struct job_record *record)
{
	return record->end_ns ? record->end_ns : record->begin_ns + NEAR_NS;
}

static bool overlaps(const struct job_run *run, const struct job_record *record)
{
	return first_ns(record) <= run->end_ns && run->begin_ns <= last_ns(record);
}

bool job_run_met(const struct job_run *run, const struct job_record *record)
{
	return overlaps(run, record) && names_have_host(&run->hosts, record->host);
}

/* If both have a key, the key decides. But two records of one host belong to two runs: each has all
 * that the host's sockets moved, so a sum would count that twice. */
static bool belongs(const struct job_run *run, const struct job_record *record)
{
	if (names_have_host(&run->hosts, record->host))
		return false;
	if (*record->key && *run->key)
		return strcmp(record->key, run->key) == 0;
	return overlaps(run, record);
}

static struct job_run *find_run(struct job_runs *runs, const struct job_record *record)
{
	for (size_t i = 0; i < runs->n; i++)
		if (belongs(&runs->all[i], record))
			return &runs->all[i];
	return NULL;
}

static int job_runs_add(struct job_run *run, struct job_record *record)
{
	if (array_room(&run->records, run->n, sizeof(void *)) < 0 ||
		names_add(&run->hosts, record->host) < 0)
		return -ENOMEM;
	run->records[run->n++] = record;
	if (*record->key)
		strcpy(run->key, record->key);
	if (run->n == 1 || first_ns(record) < run->begin_ns)
		run->begin_ns = first_ns(record);
	if (run->n == 1 || last_ns(record) > run->end_ns)
		run->end_ns = last_ns(record);
	return 0;
}

static int job_runs_take(struct job_runs *runs, struct job_record *record)
{
	struct job_run *run = find_run(runs, record);

	if (!run) {
		if (array_room(&runs->all, runs->n, sizeof *runs->all) < 0)
			return -ENOMEM;
		run = &runs->all[runs->n++];
		*run = (struct job_run){ .hosts.of_hosts = true };
	}
	return job_runs_add(run, record);
}

/* --- machines with several names --- */

/* Those of one machine are neighbours, and the longest is their first. */
static int compare_machines(const void *a, const void *b)
{
	const struct job_record *const *one = a, *const *other = b, *x = *one, *y = *other;
	const int64_t x_ns = last_ns(x) - first_ns(x), y_ns = last_ns(y) - first_ns(y);
	const int r = memcmp(x->generation, y->generation, sizeof x->generation);

	if (r)
		return r;
	return x_ns != y_ns ? (x_ns < y_ns) - (x_ns > y_ns) : strcmp(x->host, y->host);
}

/* Sets all but the first of @records aside that are of its machine. Returns how many these are. */
static size_t take_first(struct job_record *const *records, size_t n, struct note_kind *kind)
{
	struct names names = { .n = 0 };
	size_t n_same = 1;

	if (!machines_is_known(records[0]->generation))
		return 1;
	names_add(&names, records[0]->host);
	for (; n_same < n && memcmp(records[n_same]->generation, records[0]->generation,
				     sizeof records[0]->generation) == 0;
		n_same++) {
		records[n_same]->is_aside = true;
		names_add(&names, records[n_same]->host);
	}
	machines_say(kind, &names);
	names_done(&names);
	return n_same;
}

static void drop_aside(struct job_run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n; i++)
		if (!run->records[i]->is_aside)
			run->records[n++] = run->records[i];
	run->n = n;
}

/* Ranks in containers may have host names of their own: each of their records has all that the
 * machine counted, and the longest one stays. */
static int take_machines_once(struct job_run *run)
{
	_cleanup_free_ struct job_record **order = calloc(run->n + 1, sizeof *order);
	struct note_kind kind = { .n = 0 };
	size_t size_bytes;

	kind.out = order ? open_memstream(&run->machines, &size_bytes) : NULL;
	if (!kind.out)
		return -ENOMEM;
	memcpy(order, run->records, run->n * sizeof *order);
	qsort(order, run->n, sizeof *order, compare_machines);
	for (size_t i = 0; i < run->n;)
		i += take_first(&order[i], run->n - i, &kind);
	note_kind_end(&kind);
	drop_aside(run);
	return fclose(kind.out) == EOF ? -ENOMEM : 0;
}

static int job_runs_compare(const void *a, const void *b)
{
	const struct job_run *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* The order in which records are taken: those with a key, which name their run, then those with a
 * begin and an end, then the moments. */
enum { WITH_KEY, WITH_TIME, MOMENTS, KINDS };

static int job_runs_kind_of(const struct job_record *record)
{
	if (*record->key)
		return WITH_KEY;
	return record->begin_ns && record->end_ns ? WITH_TIME : MOMENTS;
}

int job_runs_find(struct job_records *records, const char *id, struct job_runs *ret)
{
	int r = 0;

	*ret = (struct job_runs){ .n = 0 };
	for (int kind = 0; kind < KINDS; kind++)
		for (size_t i = 0; r == 0 && i < records->n; i++)
			if (strcmp(records->all[i].id, id) == 0 &&
				job_runs_kind_of(&records->all[i]) == kind)
				r = job_runs_take(ret, &records->all[i]);
	for (size_t i = 0; r == 0 && i < ret->n; i++)
		r = take_machines_once(&ret->all[i]);
	if (ret->n)
		qsort(ret->all, ret->n, sizeof *ret->all, job_runs_compare);
	if (r < 0)
		job_runs_done(ret);
	return r;
}
