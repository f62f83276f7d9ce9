/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/estimate/jackknife.h"

#include <math.h>

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
