/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/estimate/symmetric.h"

#include <errno.h>
#include <math.h>

/* A column scaled to length 1 gets a coefficient if the others leave this much of it. */
static const double least_remainder = 1e-6;

static double row_product(const double *a, const double *b, uint32_t n)
{
	double sum = 0;

	for (uint32_t k = 0; k < n; k++)
		sum += a[k] * b[k];
	return sum;
}

int factor_make(const struct symmetric *a, const bool *in, struct factor *ret)
{
	ret->n = 0;
	for (uint32_t i = 0; i < a->n; i++)
		if (in[i])
			ret->columns[ret->n++] = (uint8_t)i;
	for (uint32_t i = 0; i < ret->n; i++) {
		double *row = ret->lower[i], pivot;

		for (uint32_t j = 0; j < i; j++)
			row[j] = (a->at[ret->columns[i]][ret->columns[j]] -
					 row_product(row, ret->lower[j], j)) /
				 ret->lower[j][j];
		pivot = a->at[ret->columns[i]][ret->columns[i]] - row_product(row, row, i);
		if (!(pivot > 0) || !isfinite(pivot))
			return -EBADMSG;
		row[i] = sqrt(pivot);
	}
	return 0;
}

/* v := L^-1 v */
static void solve_forward(const struct factor *factor, double *v)
{
	for (uint32_t i = 0; i < factor->n; i++)
		v[i] = (v[i] - row_product(factor->lower[i], v, i)) / factor->lower[i][i];
}

/* v := L^-T v */
static void solve_backward(const struct factor *factor, double *v)
{
	for (uint32_t i = factor->n; i-- > 0;) {
		for (uint32_t k = i + 1; k < factor->n; k++)
			v[i] -= factor->lower[k][i] * v[k];
		v[i] /= factor->lower[i][i];
	}
}

void factor_solve(const struct factor *factor, const double *products, double *ret)
{
	double v[SYMMETRIC_MAX];

	for (uint32_t i = 0; i < factor->n; i++)
		v[i] = products[factor->columns[i]];
	solve_forward(factor, v);
	solve_backward(factor, v);
	for (uint32_t i = 0; i < SYMMETRIC_MAX; i++)
		ret[i] = 0;
	for (uint32_t i = 0; i < factor->n; i++)
		ret[factor->columns[i]] = v[i];
}

double factor_let_in(const struct symmetric *a, const struct factor *factor, const double *products,
	uint32_t column)
{
	double shared[SYMMETRIC_MAX], solved[SYMMETRIC_MAX], remainder;

	for (uint32_t i = 0; i < factor->n; i++) {
		shared[i] = a->at[column][factor->columns[i]];
		solved[i] = products[factor->columns[i]];
	}
	solve_forward(factor, shared);
	solve_forward(factor, solved);
	remainder = a->at[column][column] - row_product(shared, shared, factor->n);
	if (!(remainder > least_remainder))
		return NAN;
	return (products[column] - row_product(shared, solved, factor->n)) / remainder;
}
