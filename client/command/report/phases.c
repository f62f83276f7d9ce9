/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/phases.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/median.h"

enum { WINDOW = 5, BLOCK = 6 };

/* How much a point must gain, in units of scatter x log(n). BIC's is 2 for independent noise; what
 * the filter leaves is not. */
static const double PENALTY = 5;

/* Levels that differ by less than this share of the higher one are one level. */
static const double LEAST_CHANGE = 0.15;

/* What a point is chosen by. */
struct course {
	size_t n;
	const double *rates;
	double *smooth;         /* without bursts of up to WINDOW / 2 rates */
	double *sums, *squares; /* of the first i of these */
	double scatter;         /* variance of a sum of rates, for each of them */
	double *cost;           /* of the first i rates in the best way */
	size_t *from;           /* ... where the last phase of them begins */
};

/* --- order statistics --- */

static void smooth(const struct course *course)
{
	for (size_t i = 0; i < course->n; i++) {
		const size_t before = i < WINDOW / 2 ? i : WINDOW / 2;
		const size_t after = course->n - 1 - i < before ? course->n - 1 - i : before;
		double window[WINDOW];

		memcpy(window, course->rates + i - after, (2 * after + 1) * sizeof *window);
		course->smooth[i] = median_of(window, 2 * after + 1);
	}
}

static double phases_mean_of(const double rates[], size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += rates[i];
	return sum / (double)n;
}

/* The variance of sums of @size rates, for each of them, from the differences of neighbouring sums:
 * half of these may be across a point without harm. @room: for n / @size numbers. */
static double scatter_of(const double rates[], size_t n, size_t size, double room[])
{
	const size_t n_differences = n / size - 1;
	double deviation;

	for (size_t i = 0; i < n_differences; i++)
		room[i] = fabs(phases_mean_of(rates + (i + 1) * size, size) -
			       phases_mean_of(rates + i * size, size));
	qsort(room, n_differences, sizeof *room, median_compare);
	deviation = room[n_differences / 4] / 0.3186;
	return (double)size * deviation * deviation / 2;
}

/* --- the best points --- */

static double mean_between(const struct course *course, size_t first, size_t end)
{
	return (course->sums[end] - course->sums[first]) / (double)(end - first);
}

static double squares_between(const struct course *course, size_t first, size_t end)
{
	const double sum = course->sums[end] - course->sums[first];

	return course->squares[end] - course->squares[first] - sum * sum / (double)(end - first);
}

static void partition(const struct course *course)
{
	const double penalty = PENALTY * course->scatter * log((double)course->n);

	course->cost[0] = -penalty;
	for (size_t end = 1; end <= course->n; end++) {
		course->cost[end] = INFINITY;
		for (size_t first = 0; first + PHASES_LEAST <= end; first++) {
			const double cost =
				course->cost[first] + squares_between(course, first, end) + penalty;

			if (cost < course->cost[end]) {
				course->cost[end] = cost;
				course->from[end] = first;
			}
		}
	}
}

/* Is it a point, and not a slope, or a change too small to tell? The rates just beside it must
 * differ by half as much as the phases. */
static bool is_change(
	const struct course *course, const struct phase *before, const struct phase *after)
{
	const size_t n_before = after->first - before->first, n_after = after->end - after->first;
	const size_t left = n_before < BLOCK ? n_before : BLOCK;
	const size_t right = n_after < BLOCK ? n_after : BLOCK;
	const double change = after->mean - before->mean;
	const double beside = mean_between(course, after->first, after->first + right) -
			      mean_between(course, after->first - left, after->first);

	return fabs(change) >= LEAST_CHANGE * fmax(fabs(before->mean), fabs(after->mean)) &&
	       beside / change >= 0.5;
}

static void set_phase(const struct course *course, size_t first, size_t end, struct phase *ret)
{
	*ret = (struct phase){ first, end, mean_between(course, first, end), 0 };
}

/* Bai, "Estimation of a Change Point in Multiple Regression Models", 1997: 95 % of the points are
 * within 11 x variance / change^2, and the rate that contains the point. */
static double phases_error_of(const struct course *course, double change)
{
	return 1 + ceil(11 * course->scatter / (change * change));
}

/* Phases from the last to the first point; those on both sides of what is not a change are one. */
static size_t collect(const struct course *course, struct phase ret[PHASES_MAX])
{
	struct phase found, *later = NULL;
	size_t n = 0, end = course->n;

	while (end > 0) {
		set_phase(course, course->from[end], end, &found);
		end = found.first;
		if (later && !is_change(course, &found, later)) {
			set_phase(course, found.first, later->end, later);
			continue;
		}
		if (n == PHASES_MAX)
			return 0;
		later = &ret[n++];
		*later = found;
	}
	return n;
}

static size_t phases_find_changes(struct course *course, struct phase ret[PHASES_MAX])
{
	size_t n;

	smooth(course);
	for (size_t i = 0; i < course->n; i++) {
		course->sums[i + 1] = course->sums[i] + course->smooth[i];
		course->squares[i + 1] = course->squares[i] + course->smooth[i] * course->smooth[i];
	}
	course->scatter = fmax(scatter_of(course->rates, course->n, 1, course->cost),
		scatter_of(course->rates, course->n, BLOCK, course->cost));
	partition(course);
	n = collect(course, ret);
	for (size_t i = 0; i < n / 2; i++) {
		const struct phase swap = ret[i];

		ret[i] = ret[n - 1 - i];
		ret[n - 1 - i] = swap;
	}
	for (size_t i = 1; i < n; i++)
		ret[i].error = phases_error_of(course, ret[i].mean - ret[i - 1].mean);
	return n;
}

size_t phases_find(const double rates[], size_t n, struct phase ret[PHASES_MAX])
{
	_cleanup_free_ double *room = calloc(4 * (n + 1), sizeof *room);
	_cleanup_free_ size_t *from = calloc(n + 1, sizeof *from);
	struct course course = { .n = n, .rates = rates, .from = from };

	if (n < PHASES_RATES_MIN || !room || !from)
		return 0;
	course.smooth = room;
	course.sums = room + n + 1;
	course.squares = room + 2 * (n + 1);
	course.cost = room + 3 * (n + 1);
	return phases_find_changes(&course, ret);
}
