/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/records/machines.h"
#include "client/records/steps.h"
#include "common/macro.h"

void runs_done(struct runs *runs)
{
	free(runs->of);
	*runs = (struct runs){ .n_runs = 0 };
}

int runs_one(struct record *records, uint32_t n_records, struct runs *ret)
{
	const int64_t n_machines = machines_find(records, n_records);

	*ret = (struct runs){ .n_runs = 1, .n_machines = (uint32_t)n_machines };
	if (n_machines >= 0)
		ret->of = calloc(n_records + 1U, sizeof *ret->of);
	return ret->of ? 0 : -ENOMEM;
}

/* --- order --- */

/* Neighbours in a sorted list of records. Those of one host are in the order of their begin. A host
 * is a machine here, whatever its names are. */
struct slice {
	const struct record *const *first;
	size_t n;
};

static int runs_compare_hosts(const void *a, const void *b)
{
	const struct record *const *x = a, *const *y = b;

	if ((*x)->machine != (*y)->machine)
		return (*x)->machine < (*y)->machine ? -1 : 1;
	return steps_compare_times(*x, *y);
}

static int compare_steps_and_hosts(const void *a, const void *b)
{
	const struct record *const *x = a, *const *y = b;

	if ((*x)->step_number != (*y)->step_number)
		return (*x)->step_number < (*y)->step_number ? -1 : 1;
	return runs_compare_hosts(a, b);
}

static struct slice slice_of_host(const struct record *const *first, size_t n)
{
	struct slice slice = { .first = first };

	while (slice.n < n && first[slice.n]->machine == first[0]->machine)
		slice.n++;
	return slice;
}

/* --- what overlaps --- */

static bool has_times(const struct record *record)
{
	return record_first_ns(record) && record_last_ns(record) >= record_first_ns(record);
}

/* A batch system ends a job before it begins it again, so no two runs of it are open at once. */
static bool is_same_job(const struct record *a, const struct record *b)
{
	return a->rows && b->rows && strcmp(a->job, b->job) == 0;
}

/* Ranks in containers may have host names of their own: each of their records of a job has all that
 * the machine counted, and the longest one stays. */
static void mark_beside(const struct slice *host, struct record *records)
{
	for (size_t i = 0; i < host->n; i++)
		for (size_t k = i + 1; k < host->n; k++) {
			struct record *a = &records[host->first[i] - records];
			struct record *b = &records[host->first[k] - records];
			const int64_t a_ns = record_last_ns(a) - record_first_ns(a);
			const int64_t b_ns = record_last_ns(b) - record_first_ns(b);

			if (a->beside || record_first_ns(b) > record_last_ns(a))
				break; /* they are in the order of their begin */
			if (b->beside || !is_same_job(a, b) || a->step_number != b->step_number ||
				strcmp(a->host, b->host) == 0)
				continue;
			if (b_ns > a_ns)
				a->beside = (uint32_t)(b - records) + 1;
			else
				b->beside = (uint32_t)(a - records) + 1;
		}
}

/* Marks the records that overlap another one; all records if a time is not known. Those without
 * figures count no bytes. */
static void mark_apart(const struct slice *host, const struct record *records, uint32_t *of)
{
	const struct record *last = NULL; /* the one with the latest end so far */
	bool known = true;

	for (size_t i = 0; i < host->n; i++)
		known &= has_times(host->first[i]);
	for (size_t i = 0; i < host->n; i++) {
		const struct record *record = host->first[i];

		if (record->beside || record_is_incomplete(record))
			continue;
		if (last && !is_same_job(record, last) &&
			(!known || record_first_ns(record) < record_last_ns(last)))
			of[record - records] = of[last - records] = RUNS_APART;
		if (!last || record_last_ns(record) >= record_last_ns(last))
			last = record;
	}
}

static bool runs_is_taken(
	const struct record *record, const struct record *records, const uint32_t *of)
{
	return of[record - records] != RUNS_APART && !record->beside;
}

/* Marks overlaps on all hosts. Returns the largest number of records that a host has left. */
static size_t mark_all(const struct record **order, size_t n, struct record *records, uint32_t *of)
{
	size_t most = 0;

	qsort(order, n, sizeof *order, runs_compare_hosts);
	for (size_t i = 0; i < n;) {
		const struct slice host = slice_of_host(&order[i], n - i);
		size_t left = 0;

		mark_beside(&host, records);
		mark_apart(&host, records, of);
		for (size_t k = 0; k < host.n; k++)
			left += runs_is_taken(host.first[k], records, of);
		most = left > most ? left : most;
		i += host.n;
	}
	return most;
}

/* --- runs --- */

static int64_t overlap_ns(const struct steps_span *span, const struct record *record)
{
	const int64_t first_ns = record_first_ns(record), last_ns = record_last_ns(record);
	const int64_t begun_ns = span->begun_ns > first_ns ? span->begun_ns : first_ns;
	const int64_t ended_ns = span->ended_ns < last_ns ? span->ended_ns : last_ns;

	return ended_ns > begun_ns ? ended_ns - begun_ns : 0;
}

/* Finds the run, of @n, that covers most of the record's time; the first one if several cover the
 * same. */
static size_t runs_best_of(const struct steps_span *runs, size_t n, const struct record *record)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (overlap_ns(&runs[i], record) > overlap_ns(&runs[best], record))
			best = i;
	return best;
}

/* Assigns a host's records to runs, in order. If the host has fewer records than there are runs, it
 * skips runs. */
static void assign_host(const struct slice *host, const struct record *records,
	const struct steps *runs, uint32_t *of)
{
	size_t at = 0;

	for (size_t i = 0; i < host->n; i++, at++) {
		const size_t n_choices = runs->n - at - (host->n - i) + 1;

		at += runs_best_of(&runs->all[at], n_choices, host->first[i]);
		of[host->first[i] - records] = runs->all[at].number;
	}
}

/* The hosts with the most records of a step determine the times of its runs. */
static void runs_split_step(
	const struct slice *step, const struct record *records, struct steps *runs, uint32_t *of)
{
	struct steps own = { .all = &runs->all[runs->n] };
	struct slice host;

	for (size_t i = 0; i < step->n; i += host.n) {
		host = slice_of_host(&step->first[i], step->n - i);
		own.n = host.n > own.n ? (uint32_t)host.n : own.n;
	}
	for (size_t i = 0; i < step->n; i += host.n) {
		host = slice_of_host(&step->first[i], step->n - i);
		for (size_t k = 0; host.n == own.n && k < host.n; k++)
			steps_widen(&own.all[k], host.first[k]);
	}
	for (uint32_t k = 0; k < own.n; k++)
		own.all[k].number = runs->n + k;
	for (size_t i = 0; i < step->n; i += host.n) {
		host = slice_of_host(&step->first[i], step->n - i);
		assign_host(&host, records, &own, of);
	}
	runs->n += own.n;
}

static int compare_spans(const void *a, const void *b)
{
	const struct steps_span *x = a, *y = b;

	if (x->begun_ns != y->begun_ns)
		return x->begun_ns < y->begun_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Numbers the runs in the order of their begin. */
static int number_runs(struct steps *runs, uint32_t n_records, uint32_t *of)
{
	_cleanup_free_ uint32_t *places = calloc(runs->n + 1U, sizeof *places);

	if (!places)
		return -ENOMEM;
	qsort(runs->all, runs->n, sizeof *runs->all, compare_spans);
	for (uint32_t i = 0; i < runs->n; i++)
		places[runs->all[i].number] = i;
	for (uint32_t i = 0; i < n_records; i++)
		if (of[i] != RUNS_APART)
			of[i] = places[of[i]];
	return 0;
}

static int assign_all(
	const struct record **order, size_t n, const struct record *records, struct runs *ret)
{
	struct steps runs = { .all = calloc(n + 1, sizeof *runs.all) };
	size_t n_left = 0;
	int r;

	if (!runs.all)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (runs_is_taken(order[i], records, ret->of))
			order[n_left++] = order[i];
	qsort(order, n_left, sizeof *order, compare_steps_and_hosts);
	for (size_t i = 0; i < n_left;) {
		struct slice step = { .first = &order[i] };

		while (i < n_left && step.first[0]->step_number == order[i]->step_number) {
			step.n++;
			i++;
		}
		runs_split_step(&step, records, &runs, ret->of);
	}
	r = number_runs(&runs, (uint32_t)n, ret->of);
	ret->n_runs = runs.n;
	free(runs.all);
	return r;
}

/* Those that are not taken are of the run of the record that is. */
static void follow_beside(const struct record *records, uint32_t n_records, uint32_t *of)
{
	for (uint32_t i = 0; i < n_records; i++) {
		uint32_t at = i;

		while (records[at].beside)
			at = records[at].beside - 1;
		of[i] = of[at];
	}
}

static bool any_has_rows(const struct record *records, uint32_t n_records)
{
	uint32_t i = 0;

	while (i < n_records && !records[i].rows)
		i++;
	return i < n_records;
}

/* If no host has a second record, all records of programs are of one run, whatever their names are.
 */
int runs_find(struct record *records, uint32_t n_records, struct runs *ret)
{
	_cleanup_free_ const struct record **order = calloc(n_records + 1U, sizeof *order);
	_cleanup_(runs_done) struct runs runs = { .n_runs = 0 };
	size_t n_most; /* records that a machine has left */
	int r = order ? runs_one(records, n_records, &runs) : -ENOMEM;

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n_records; i++) {
		records[i].beside = 0;
		order[i] = &records[i];
	}
	r = steps_number(order, n_records, records);
	if (r < 0)
		return r;
	n_most = mark_all(order, n_records, records, runs.of);
	if (n_most == 0)
		runs.n_runs = 0;
	else if (n_most > 1 || any_has_rows(records, n_records))
		r = assign_all(order, n_records, records, &runs);
	if (r < 0)
		return r;
	follow_beside(records, n_records, runs.of);
	*ret = runs;
	runs = (struct runs){ .n_runs = 0 };
	return 0;
}
