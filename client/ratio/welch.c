/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/ratio/welch.h"

#include <math.h>

enum { FRACTION_STEPS = 300, BISECTIONS = 200 };

/* The continued fraction of the incomplete beta function, by Lentz's method: Numerical Recipes,
 * section 6.4. */
static double fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 / fmax(fabs(1 - (a + b) * x / (a + 1)), tiny), h = d;

	for (int m = 1; m <= FRACTION_STEPS; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / (1 + even * d);
		c = 1 + even / c;
		h *= d * c;
		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		h *= d * c;
		if (fabs(d * c - 1) < 1e-15)
			break;
	}
	return h;
}

/* The regularised incomplete beta function of 0 <= @x <= 1. */
static double beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a
					 : 1 - front * fraction(b, a, 1 - x) / b;
}

/* The chance that Student's t is beyond +-@t. */
static double tails(double t, double freedom)
{
	return beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

static void moments(const double values[], size_t n, double *ret_mean, double *ret_error2)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += log(values[i]) / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += pow(log(values[i]) - mean, 2);
	*ret_mean = mean;
	*ret_error2 = squares / (double)(n - 1) / (double)n;
}

struct welch welch_test(const double a[], size_t n_a, const double b[], size_t n_b)
{
	double mean_a, mean_b, error2_a, error2_b;
	struct welch ret;

	moments(a, n_a, &mean_a, &error2_a);
	moments(b, n_b, &mean_b, &error2_b);
	ret.difference = mean_b - mean_a;
	ret.error = sqrt(error2_a + error2_b);
	if (!(ret.error > 1e-12)) { /* the rounding of logarithms */
		ret.freedom = (double)(n_a + n_b - 2);
		ret.error = 0;
		ret.p = fabs(ret.difference) < 1e-12;
		return ret;
	}
	ret.freedom = pow(error2_a + error2_b, 2) /
		      (pow(error2_a, 2) / (double)(n_a - 1) + pow(error2_b, 2) / (double)(n_b - 1));
	ret.p = tails(ret.difference / ret.error, ret.freedom);
	return ret;
}

double welch_margin(const struct welch *welch, double alpha)
{
	double low = 0, high = 1e6;

	for (int i = 0; i < BISECTIONS && welch->error > 0; i++) {
		const double middle = (low + high) / 2;

		if (tails(middle, welch->freedom) > alpha)
			low = middle;
		else
			high = middle;
	}
	return low * welch->error;
}
