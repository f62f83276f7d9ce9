/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inverse of the scaled matrix is the covariance of the coefficients for an error of 1. The row
 * of a column that is not separable shows its partners. With several equal columns the covariances
 * are equal. With columns of an unrelated pair they are 0. Eigenvectors would mix two such pairs.
 */
#include "client/estimate/symmetric.h"

#include <errno.h>
#include <math.h>

static const double inflation_max = 30;
static const double condition_max = 1000;
static const double partner_share = 0.3; /* of the largest covariance in a row */

/* @row: the column's row of the inverse. Columns of the same region may be bound to each other. */
static void find_partners(
	struct separation *separation, uint32_t column, const double *row, const uint8_t *columns)
{
	const uint32_t region = estimate_region_of(columns[column]);
	double largest = 0;

	for (uint32_t i = 0; i < separation->n; i++)
		if (i != column)
			largest = fmax(largest, fabs(row[i]));
	for (uint32_t i = 0; i < separation->n; i++)
		if (estimate_region_of(columns[i]) != region &&
			fabs(row[i]) >= partner_share * largest)
			separation->is_bound[i] = separation->is_bound[column] = true;
}

static bool are_finite(const double *numbers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!isfinite(numbers[i]))
			return false;
	return true;
}

int separate(const struct symmetric *gram, const double *spread, const uint8_t *columns,
	struct factor *scratch, struct separation *ret)
{
	bool in[SYMMETRIC_MAX] = { false };
	double unit[SYMMETRIC_MAX] = { 0 }, row[SYMMETRIC_MAX];
	uint32_t n = ret->n;
	int r;

	*ret = (struct separation){ .n = n };
	for (uint32_t i = 0; i < n; i++)
		in[i] = true;
	r = factor_make(gram, in, scratch);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		unit[i] = 1;
		factor_solve(scratch, unit, row);
		unit[i] = 0;
		if (!are_finite(row, n))
			return -EBADMSG;
		if (n > 1 && (row[i] * spread[i] > inflation_max || row[i] > condition_max))
			find_partners(ret, i, row, columns);
	}
	return 0;
}
