/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "client/command/validate/measure/measure.h"
#include "common/macro.h"
#include "tests/harness/test.h"

static void assert_near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-9 * (1 + fabs(wanted)))
		fail_msg("%.12g is not %.12g", value, wanted);
}

CASE("the median is the middle value")
{
	double odd[] = { 9, 1, 5 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };

	assert_near(statistics_median(odd, 3, NULL), 5);
	assert_near(statistics_median(even, 4, NULL), 2.5);
	assert_near(statistics_median(one, 1, NULL), 7);
}

CASE("equal values have no error")
{
	double values[] = { 3, 3, 3, 3, 3 }, error = 1;

	assert_near(statistics_median(values, 5, &error), 3);
	assert_near(error, 0);
}

CASE("an outlier moves neither median nor error")
{
	double tight[] = { 99, 100, 101, 100, 102 }, outlier[] = { 99, 100, 101, 100, 1e9 };
	double error_tight, error_outlier;

	assert_near(statistics_median(tight, 5, &error_tight), 100);
	assert_near(statistics_median(outlier, 5, &error_outlier), 100);
	assert_near(error_outlier, error_tight);
}

/* The distances from 30 are 20, 10, 0, 10, 20, and their median is 10. */
CASE("the error follows the median distance")
{
	double values[] = { 10, 50, 30, 20, 40 }, error;

	statistics_median(values, 5, &error);
	assert_near(error, 1.4826 * 1.2533 * 10 / sqrt(5));
}

CASE("a spread on one side counts")
{
	double values[] = { 0, 0, 0, 100, 100, 100, 100 }, error;

	assert_near(statistics_median(values, 7, &error), 100);
	assert_near(error, 0); /* four of seven are equal */
	values[3] = 50;
	statistics_median(values, 7, &error);
	assert_true(error > 10);
}
