/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of jobs, whose records may be of one run (runs.h): those of one name. Records of a
 * batch system's job without a key have no name; those whose times overlap are of one step.
 */
#pragma once

#include <stddef.h>

#include "client/report/record.h"

/* The job step of a record, also of a process alone; "": it has none. */
static inline const char *steps_of(const struct record *record)
{
	return *record->team ? record->team : record->step;
}

/* The time of a step, or of a run of one. */
struct steps_span {
	int64_t begun_ns, ended_ns;
	uint32_t number; /* number of the run, before sorting */
};

struct steps {
	struct steps_span *all;
	uint32_t n;
};

void steps_widen(struct steps_span *span, const struct record *record);

/* The order of their begin. */
int steps_compare_times(const struct record *a, const struct record *b);

/* Sets .step_number of all @n records. Sorts @order, which refers to them. 0; -ENOMEM. */
int steps_number(const struct record **order, size_t n, struct record *records);
