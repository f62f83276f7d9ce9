/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases of simulated courses: known levels, with noise that is not independent, and neighbours. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "client/command/report/phases.h"
#include "tests/harness/test.h"

enum { COURSES = 50, RATES_MAX = 400, WITHIN = 2 };

struct simulated {
	size_t n, n_phases, first[PHASES_MAX];
	double rates[RATES_MAX];
	uint64_t seed;
};

/* Knuth's linear congruential generator: the same courses everywhere. */
static double chance(struct simulated *course)
{
	course->seed = course->seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(course->seed >> 11) / (double)(UINT64_C(1) << 53);
}

static double between(struct simulated *course, double least, double most)
{
	return least + chance(course) * (most - least);
}

/* The normal distribution, nearly. */
static double normal(struct simulated *course)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += chance(course);
	return sum;
}

/* The next phase's level is at least a quarter away from this one. */
static double other_level(struct simulated *course, double level)
{
	double other;

	do
		other = between(course, 2, 100);
	while (fabs(other - level) < 0.25 * fmax(other, level));
	return other;
}

/* A neighbour moves something all the time, and has bursts of one or two rates. */
static double neighbour(struct simulated *course, double level)
{
	return chance(course) < 0.03 ? between(course, 0.3, 1) * level : 0;
}

static void fill(struct simulated *course, size_t n_phases)
{
	const double noise = between(course, 0.01, 0.08), memory = between(course, 0, 0.6);
	const double always = between(course, 0, 3);
	double level = between(course, 2, 100), drift = 0;
	size_t next = 0;

	course->n = (size_t)between(course, 120, RATES_MAX);
	course->n_phases = n_phases;
	for (size_t k = 0; k < n_phases; k++)
		course->first[k] = k ? course->n * k / n_phases + (size_t)between(course, 0, 8) : 0;
	for (size_t i = 0; i < course->n; i++) {
		if (next < n_phases && course->first[next] == i && next++)
			level = other_level(course, level);
		drift = memory * drift + sqrt(1 - memory * memory) * normal(course);
		course->rates[i] = level * (1 + noise * drift) + always + neighbour(course, level);
	}
}

static size_t distance(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/* Is a point of one list near the place @first? */
static bool has_near(const struct phase found[], size_t n, size_t first)
{
	for (size_t i = 1; i < n; i++)
		if (distance(found[i].first, first) <= WITHIN)
			return true;
	return false;
}

CASE("in 95 % the points of known phases are found within two rates, and no others")
{
	unsigned n_points = 0, n_missed = 0, n_invented = 0, n_within_error = 0;

	for (uint64_t seed = 1; seed <= COURSES; seed++) {
		struct simulated course = { .seed = seed };
		struct phase found[PHASES_MAX];
		size_t n;

		fill(&course, 2 + seed % 5);
		n = phases_find(course.rates, course.n, found);
		n_points += course.n_phases - 1;
		for (size_t k = 1; k < course.n_phases; k++)
			n_missed += !has_near(found, n, course.first[k]);
		n_invented += n > course.n_phases;
		for (size_t k = 1; n == course.n_phases && k < n; k++)
			n_within_error +=
				(double)distance(found[k].first, course.first[k]) <= found[k].error;
	}
	print_message(
		"# %u points, %u missed; %u courses have too many; %u are within their error\n",
		n_points, n_missed, n_invented, n_within_error);
	assert_true(n_missed <= n_points * 5 / 100);
	assert_true(n_invented <= COURSES * 5 / 100);
	assert_true(n_within_error >= n_points * 90 / 100);
}

CASE("in 95 % no phases are found where there are none")
{
	unsigned n_wrong = 0;

	for (uint64_t seed = 1001; seed <= 1000 + COURSES; seed++) {
		struct simulated course = { .seed = seed };
		struct phase found[PHASES_MAX];

		fill(&course, 1);
		n_wrong += phases_find(course.rates, course.n, found) != 1;
	}
	print_message("# %u of %u courses without phases have some\n", n_wrong, COURSES);
	assert_true(n_wrong <= COURSES * 5 / 100);
}

CASE("a slope is not a phase, and neither is nothing")
{
	double slope[200], nothing[200] = { 0 };
	struct phase found[PHASES_MAX];

	for (int i = 0; i < 200; i++)
		slope[i] = 10 + i + i % 3;
	assert_int_equal(phases_find(slope, 200, found), 1);
	assert_int_equal(phases_find(nothing, 200, found), 1);
	assert_true(found[0].mean == 0);
}

CASE("a phase has its place, its mean, and the error of its begin")
{
	double rates[60];
	struct phase found[PHASES_MAX];

	for (int i = 0; i < 60; i++)
		rates[i] = (i < 40 ? 10 : 30) + i % 2;
	assert_int_equal(phases_find(rates, 60, found), 2);
	assert_int_equal(found[0].first, 0);
	assert_int_equal(found[0].end, 40);
	assert_int_equal(found[1].first, 40);
	assert_int_equal(found[1].end, 60);
	assert_true(fabs(found[1].mean - 30.5) < 0.5);
	assert_true(found[0].error == 0 && found[1].error >= 1 && found[1].error < 3);
}

CASE("too few rates, or too many phases, are not phases")
{
	double rates[320];
	struct phase found[PHASES_MAX];

	for (int i = 0; i < 320; i++)
		rates[i] = i / 20 % 2 ? 100 : 10;
	assert_int_equal(phases_find(rates, PHASES_RATES_MIN - 1, found), 0);
	assert_int_equal(phases_find(rates, 320, found), 0);
	assert_int_equal(phases_find(rates, 160, found), 8);
}
