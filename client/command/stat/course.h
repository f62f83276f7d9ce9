/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rates over time, in bounded memory: a point for each interval, and when there is no room for one
 * more, each two neighbours become one point. It keeps the least and the most of both.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Of the time since the course began. */
struct course_point {
	uint64_t begin_ns, end_ns;
};

/* One rate, in the time of a point. */
struct course_cell {
	double sum, ns; /* of rates by the time that each held, and of these times; 0: absent */
	double least, most;
	uint32_t quality; /* every flag that was raised */
};

struct course {
	uint32_t n_columns; /* cells of a point */
	size_t n, room;     /* points; .room 0: nothing was added */
	uint64_t n_intervals;
	uint64_t per_point, n_last;  /* intervals of a point, and of the last one */
	struct course_point *points; /* owned */
	struct course_cell *cells;   /* owned; those of one point, then those of the next one */
};

/* Adds an interval. Returns its @n_columns cells, each for course_note(), or NULL: no memory. All
 * calls have as many columns. */
struct course_cell *course_next(
	struct course *course, uint32_t n_columns, struct course_point interval);

/* @rate held for the @interval; NAN: absent. */
void course_note(
	struct course_cell *cell, double rate, uint32_t quality, struct course_point interval);

/* Adds @more, of another time, to @cell. */
void course_add(struct course_cell *cell, const struct course_cell *more);

static inline struct course_cell *course_cells(const struct course *course, size_t point)
{
	return course->cells + point * course->n_columns;
}

void course_done(struct course *course);
