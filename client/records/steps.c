/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"

int steps_compare_times(const struct record *a, const struct record *b)
{
	const int64_t first_a_ns = record_first_ns(a), first_b_ns = record_first_ns(b);
	const int64_t last_a_ns = record_last_ns(a), last_b_ns = record_last_ns(b);

	if (first_a_ns != first_b_ns)
		return first_a_ns < first_b_ns ? -1 : 1;
	if (last_a_ns != last_b_ns)
		return last_a_ns < last_b_ns ? -1 : 1;
	return (a > b) - (a < b);
}

/* The name of a step on all nodes. Names that a launcher or `uncore run` makes up on each node do
 * not count, because they mean nothing on other nodes. */
static const char *steps_name(const struct record *record)
{
	static const char *const made_up[] = { "hydra/", "own/run-" };
	const char *step = steps_of(record);

	for (size_t i = 0; i < ARRAY_SIZE(made_up); i++)
		if (strncmp(step, made_up[i], strlen(made_up[i])) == 0)
			return "";
	return step;
}

void steps_widen(struct steps_span *span, const struct record *record)
{
	if (!span->begun_ns || record_first_ns(record) < span->begun_ns)
		span->begun_ns = record_first_ns(record);
	if (record_last_ns(record) > span->ended_ns)
		span->ended_ns = record_last_ns(record);
}

/* What tells the runs of a job apart: the name of a step; without one, the time of a job. */
enum { BY_NAME, BY_TIME, BY_MOMENT };

static int steps_kind_of(const struct record *record)
{
	if (!record->rows || *record->step)
		return BY_NAME;
	return record->begun_ns && record->ended_ns ? BY_TIME : BY_MOMENT;
}

static int steps_compare(const void *a, const void *b)
{
	const struct record *const *one = a, *const *other = b, *x = *one, *y = *other;
	int r = (x->rows != NULL) - (y->rows != NULL);

	if (r == 0)
		r = strcmp(x->job, y->job);
	if (r == 0)
		r = steps_kind_of(x) - steps_kind_of(y);
	if (r == 0)
		r = strcmp(steps_name(x), steps_name(y));
	return r ? r : steps_compare_times(x, y);
}

/* The step of a record among those of its job; their number: it has a new one. */
static uint32_t steps_find(
	const struct record *last, const struct record *record, const struct steps *of_job)
{
	uint32_t i = 0;

	if (steps_kind_of(record) == BY_NAME)
		return of_job->n && strcmp(steps_name(last), steps_name(record)) == 0
			       ? of_job->n - 1
			       : of_job->n;
	while (i < of_job->n && (record_first_ns(record) > of_job->all[i].ended_ns ||
					of_job->all[i].begun_ns > record_last_ns(record)))
		i++;
	return i;
}

int steps_number(const struct record **order, size_t n, struct record *records)
{
	_cleanup_free_ struct steps_span *spans = calloc(n + 1, sizeof *spans);
	struct steps of_job = { .all = spans };

	if (!spans)
		return -ENOMEM;
	qsort(order, n, sizeof *order, steps_compare);
	for (size_t i = 0; i < n; i++) {
		const struct record *last = order[i ? i - 1 : 0];
		struct record *record = &records[order[i] - records];
		uint32_t at;

		if (!last->rows != !record->rows || strcmp(last->job, record->job) != 0) {
			of_job.all += of_job.n;
			of_job.n = 0;
		}
		at = steps_find(last, record, &of_job);
		of_job.n += at == of_job.n;
		steps_widen(&of_job.all[at], record);
		record->step_number = (uint32_t)(&of_job.all[at] - spans);
	}
	return 0;
}
