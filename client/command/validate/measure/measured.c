/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/measure.h"

#include <math.h>
#include <stdlib.h>

#include "common/median.h"

/* As a share of what is predicted. A counter that shows less shows a fraction, or next to nothing,
 * and its value need not be known as well. */
static const double SHOWN_LEAST = 0.1;
/* Others are noticed from this share of what the kernel moves. */
static const double OTHERS_LEAST = 0.05;

double measured_total(const struct measured *measured)
{
	return measured->predicted.read + measured->predicted.written;
}

bool measured_notices_others(const struct measured *measured)
{
	return fabs(measured->background) > OTHERS_LEAST;
}

double measured_whole(const struct measured *measured, double shown)
{
	return fmax(shown, SHOWN_LEAST * measured_total(measured));
}

void measured_done(struct measured *measured)
{
	free(measured->bytes);
	measured->bytes = NULL;
}

/* --- statistics --- */

/* Of a normal distribution: its standard deviation divided by the median distance from its middle,
 * and the standard error of a median divided by that of a mean. */
static const double DEVIATION = 1.4826, MEDIAN_ERROR = 1.2533;

/* The median distance of the sorted @values from their @median. */
static double median_distance(const double values[], unsigned n, double median)
{
	unsigned first = 0, last = n - 1;

	/* Drops the farther end until the nearest half of the values is left from first to last. */
	while (last - first + 1 > n / 2 + 1)
		if (median - values[first] > values[last] - median)
			first++;
		else
			last--;
	return fmax(median - values[first], values[last] - median);
}

double statistics_median(double values[], unsigned n, double *ret_error)
{
	double median = median_of(values, n);

	if (ret_error)
		*ret_error =
			DEVIATION * MEDIAN_ERROR * median_distance(values, n, median) / sqrt(n);
	return median;
}
