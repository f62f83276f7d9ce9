/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of a page: what is kept of a run with more intervals than points. */
#include <math.h>

#include "client/command/stat/course.h"
#include "common/macro.h"
#include "tests/harness/test.h"

enum { QUALITY = 4, SPIKE_QUALITY = 8 };

static const uint64_t STEP_NS = 10000000;

/* Each interval has a rate of 1, unless it is one of @spikes with 100 or of @dips with 0. */
static void add(struct course *course, uint32_t n_columns, uint64_t i, uint64_t spike, uint64_t dip)
{
	const struct course_point interval = { i * STEP_NS, (i + 1) * STEP_NS };
	struct course_cell *cells = course_next(course, n_columns, interval);

	assert_non_null(cells);
	for (uint32_t k = 0; k < n_columns; k++)
		course_note(&cells[k],
			i == spike ? 100
			: i == dip ? 0
				   : 1,
			i == spike ? SPIKE_QUALITY : QUALITY, interval);
}

static double most_of(const struct course *course, uint32_t column)
{
	double most = 0;

	for (size_t i = 0; i < course->n; i++)
		most = fmax(most, course_cells(course, i)[column].most);
	return most;
}

static double sum_of(const struct course *course, uint32_t column)
{
	double sum = 0;

	for (size_t i = 0; i < course->n; i++)
		sum += course_cells(course, i)[column].sum;
	return sum;
}

/* Points follow each other without a gap, and are of as many intervals as the course says. */
static void check_times(const struct course *course, uint64_t n)
{
	const uint64_t per_point_ns = course->per_point * STEP_NS;

	assert_int_equal(course->points[0].begin_ns, 0);
	for (size_t i = 1; i < course->n; i++) {
		assert_int_equal(course->points[i].begin_ns, course->points[i - 1].end_ns);
		assert_int_equal(course->points[i].begin_ns, i * per_point_ns);
	}
	assert_int_equal(course->points[course->n - 1].end_ns, n * STEP_NS);
	assert_int_equal(course->n_intervals, n);
}

CASE("a short run has a point for each interval")
{
	_cleanup_(course_done) struct course course = {};

	for (uint64_t i = 0; i < 100; i++)
		add(&course, 3, i, 7, 9);
	assert_int_equal(course.n, 100);
	assert_int_equal(course.per_point, 1);
	check_times(&course, 100);
	assert_true(course_cells(&course, 7)[2].most == 100);
	assert_int_equal(course_cells(&course, 7)[2].quality, SPIKE_QUALITY);
	assert_int_equal(course_cells(&course, 8)[2].quality, QUALITY);
}

CASE("of a million intervals, the highest, the lowest, the mean and all flags are kept")
{
	enum { N = 1000000 };
	static const uint64_t spikes[] = { 0, 1, 4095, 4096, 500001, N - 1 };

	for (size_t s = 0; s < ARRAY_SIZE(spikes); s++) {
		_cleanup_(course_done) struct course course = {};
		const uint64_t spike = spikes[s], dip = (spike + 5000) % N;
		size_t at;

		for (uint64_t i = 0; i < N; i++)
			add(&course, 2, i, spike, dip);
		at = spike / course.per_point;
		check_times(&course, N);
		assert_true(course.n <= course.room && course.n > course.room / 2 - 1);
		assert_true(course_cells(&course, at)[1].most == 100);
		assert_int_equal(
			course_cells(&course, at)[1].quality & SPIKE_QUALITY, SPIKE_QUALITY);
		assert_true(course_cells(&course, dip / course.per_point)[0].least == 0);
		assert_true(most_of(&course, 0) == 100);
		assert_true(fabs(sum_of(&course, 1) / STEP_NS - (N + 98)) < 1);
	}
}

CASE("many columns have fewer points, and memory stays bounded")
{
	_cleanup_(course_done) struct course course = {};

	for (uint64_t i = 0; i < 20000; i++)
		add(&course, 300, i, 19999, 5);
	check_times(&course, 20000);
	assert_true(course.room * 300 <= 120000);
	assert_true(most_of(&course, 299) == 100);
}

CASE("what is absent has no rate, and does not change the others of its point")
{
	_cleanup_(course_done) struct course course = {};
	const struct course_point all = { 0, STEP_NS };
	struct course_cell *cells = course_next(&course, 2, all);

	course_note(&cells[0], NAN, 1, all);
	assert_true(cells[0].ns == 0);
	course_note(&cells[0], 3, 0, all);
	assert_true(cells[0].sum == 3 * cells[0].ns && cells[0].least == 3);
	assert_int_equal(cells[0].quality, 1);
}
