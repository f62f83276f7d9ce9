/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/estimate/jackknife.h"

#include <math.h>
#include <stdlib.h>

/* Of a median: its error / the median distance from it x the root of the number (normal). */
static const double median_error = 1.2533 * 1.4826;

int jackknife_make(struct model *model, uint32_t mask, struct jackknife *ret)
{
	int r;

	ret->mask = mask;
	ret->n = 0;
	r = model_fit(model, mask, ret->with_all);
	for (uint32_t i = 0; r >= 0 && i < ESTIMATE_BLOCKS; i++)
		if (mask >> i & 1 && mask != UINT32_C(1) << i)
			r = model_fit(model, mask & ~(UINT32_C(1) << i), ret->without[ret->n++]);
	return r;
}

double jackknife_sum(const struct model *model, const double *weights, const double *coefficients)
{
	double sum = 0;

	for (uint32_t i = 0; i < model->n_all; i++)
		if (weights[i] != 0) /* a coefficient without weight may be NAN */
			sum += weights[i] * coefficients[i];
	return sum;
}

double jackknife_error(
	const struct model *model, const struct jackknife *jackknife, const double *weights)
{
	double with_all = jackknife_sum(model, weights, jackknife->with_all), sum = 0;

	if (jackknife->n < 2)
		return NAN;
	for (uint32_t i = 0; i < jackknife->n; i++) {
		double change = jackknife_sum(model, weights, jackknife->without[i]) - with_all;

		sum += change * change;
	}
	return sqrt(sum * (jackknife->n - 1) / jackknife->n);
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double jackknife_middle(double *values, uint32_t n)
{
	if (!n)
		return NAN;
	qsort(values, n, sizeof *values, compare);
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* Of pseudo-values: what each block says alone. */
double jackknife_median(const struct model *model, const struct jackknife *jackknife,
	const double *weights, double *ret_error)
{
	const double with_all = jackknife_sum(model, weights, jackknife->with_all);
	double values[ESTIMATE_BLOCKS] = { 0 }, median;
	const uint32_t n = jackknife->n;

	for (uint32_t i = 0; i < n; i++)
		values[i] = n * with_all -
			    (n - 1) * jackknife_sum(model, weights, jackknife->without[i]);
	median = jackknife_middle(values, n);
	for (uint32_t i = 0; i < n; i++)
		values[i] = fabs(values[i] - median);
	*ret_error = median_error * jackknife_middle(values, n) / sqrt(n);
	return median;
}

double jackknife_stretch(double freedom)
{
	double v = fmax(freedom, 1);

	return 1 + 4.25 / v + 16 / (v * v);
}

uint32_t jackknife_half(const struct model *model)
{
	uint32_t mask = 0;
	double dt_s = 0;

	for (uint32_t i = 0; i < ESTIMATE_BLOCKS; i++) {
		double block_s = model->usable >> i & 1 ? model->blocks[i].dt_s : 0;

		if (dt_s + block_s / 2 < model->dt_s / 2)
			mask |= model->usable & UINT32_C(1) << i;
		dt_s += block_s;
	}
	return mask;
}

double jackknife_advantage(const struct model *simple, const struct jackknife *simple_run,
	const struct model *full, const struct jackknife *full_run)
{
	double sum = 0, squares = 0, mean;
	uint32_t n = 0;

	for (uint32_t b = 0; b < ESTIMATE_BLOCKS; b++) {
		double gain;

		if (!(simple->usable >> b & 1) || n >= simple_run->n || n >= full_run->n)
			continue;
		gain = model_miss(simple, b, simple_run->without[n]) -
		       model_miss(full, b, full_run->without[n]);
		sum += gain;
		squares += gain * gain;
		n++;
	}
	if (n < 2)
		return 0;
	mean = sum / n;
	return mean / fmax(sqrt((squares / n - mean * mean) / (n - 1)), 1e-300);
}
