/* SPDX-License-Identifier: BSD-3-Clause */
/* Jackknife errors: the fit is repeated without each block of time in turn. */
#pragma once

#include "client/estimate/model.h"

struct jackknife {
	uint32_t mask; /* blocks */
	uint32_t n;
	double with_all[MODEL_COLUMNS];
	double without[ESTIMATE_BLOCKS][MODEL_COLUMNS];
};

/* 0; -EBADMSG. */
int jackknife_make(struct model *model, uint32_t mask, struct jackknife *ret);

/* The sum of @weights[] x scaled coefficients, over all columns of the model. */
double jackknife_sum(const struct model *model, const double *weights, const double *coefficients);
double jackknife_error(
	const struct model *model, const struct jackknife *jackknife, const double *weights);

/* The median. Sorts @values. @n is not 0. */
double jackknife_middle(double *values, uint32_t n);

/* As jackknife_sum(), and its error, by medians: a few blocks in which the machine stood still do
 * not matter. */
double jackknife_median(const struct model *model, const struct jackknife *jackknife,
	const double *weights, double *ret_error);

/* The factor that stretches an error with @freedom degrees of freedom: 4 errors are then exceeded
 * as rarely as in a normal distribution. */
double jackknife_stretch(double freedom);

/* The blocks of the first half of the time. */
uint32_t jackknife_half(const struct model *model);

/* By how many standard errors the model @full predicts each block better from all others. Both have
 * the same usable blocks. */
double jackknife_advantage(const struct model *simple, const struct jackknife *simple_run,
	const struct model *full, const struct jackknife *full_run);
