/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/course.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"

/* Points are even in number. As JSON a cell may have 30 bytes. */
enum { CELLS_MOST = 120000, POINTS_MOST = 4096, POINTS_LEAST = 64 };

static int course_make_room(struct course *course, uint32_t n_columns)
{
	size_t room = CELLS_MOST / (n_columns + 1);

	room = room > POINTS_MOST ? POINTS_MOST : room < POINTS_LEAST ? POINTS_LEAST : room;
	course->room = room & ~(size_t)1;
	course->points = calloc(course->room, sizeof *course->points);
	course->cells = calloc(course->room * (n_columns + 1), sizeof *course->cells);
	course->n_columns = n_columns;
	course->per_point = 1;
	return course->points && course->cells ? 0 : -ENOMEM;
}

void course_add(struct course_cell *cell, const struct course_cell *more)
{
	cell->quality |= more->quality;
	if (more->ns <= 0)
		return;
	cell->least = cell->ns > 0 ? fmin(cell->least, more->least) : more->least;
	cell->most = cell->ns > 0 ? fmax(cell->most, more->most) : more->most;
	cell->sum += more->sum;
	cell->ns += more->ns;
}

static void halve(struct course *course)
{
	for (size_t i = 0; i < course->n / 2; i++) {
		struct course_cell *cells = course_cells(course, i);

		course->points[i] = (struct course_point){ course->points[2 * i].begin_ns,
			course->points[2 * i + 1].end_ns };
		memmove(cells, course_cells(course, 2 * i), course->n_columns * sizeof *cells);
		for (uint32_t k = 0; k < course->n_columns; k++)
			course_add(&cells[k], &course_cells(course, 2 * i + 1)[k]);
	}
	course->n /= 2;
	course->per_point *= 2;
}

struct course_cell *course_next(
	struct course *course, uint32_t n_columns, struct course_point interval)
{
	if (!course->room && course_make_room(course, n_columns) < 0)
		return NULL;
	course->n_intervals++;
	if (course->n && course->n_last < course->per_point) {
		course->n_last++;
		course->points[course->n - 1].end_ns = interval.end_ns;
		return course_cells(course, course->n - 1);
	}
	if (course->n == course->room)
		halve(course);
	course->n_last = 1;
	course->points[course->n] = interval;
	memset(course_cells(course, course->n), 0, n_columns * sizeof *course->cells);
	return course_cells(course, course->n++);
}

void course_note(
	struct course_cell *cell, double rate, uint32_t quality, struct course_point interval)
{
	const double ns = fmax(1, (double)(interval.end_ns - interval.begin_ns));
	const struct course_cell one = { rate * ns, isnan(rate) ? 0 : ns, rate, rate, quality };

	course_add(cell, &one);
}

void course_done(struct course *course)
{
	free(take_ptr(course->points));
	free(take_ptr(course->cells));
}
