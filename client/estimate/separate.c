/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inverse of the scaled matrix is the covariance of the coefficients for an error of 1. The row
 * of a column that is not separable shows its partners. With several equal columns the covariances
 * are equal. With columns of an unrelated pair they are 0. Eigenvectors would mix two such pairs.
 */
#include "client/estimate/separate.h"

#include <errno.h>
#include <math.h>

static const double inflation_max = 30;
static const double condition_max = 1000;
static const double partner_share = 0.3; /* of the largest covariance in a row */

static void unite(struct separation *separation, uint32_t a, uint32_t b)
{
	uint32_t from = separation->group[b], to = separation->group[a];

	if (from == to)
		return;
	if (!from)
		separation->group[b] = to;
	for (uint32_t i = 0; from && i < separation->n; i++)
		if (separation->group[i] == from)
			separation->group[i] = to;
}

/* @row: the column's row of the inverse. */
static void find_partners(struct separation *separation, uint32_t column, const double *row)
{
	uint32_t n = separation->n;
	double largest = 0;

	for (uint32_t i = 0; i < n; i++)
		if (i != column)
			largest = fmax(largest, fabs(row[i]));
	if (!separation->group[column])
		separation->group[column] = 1 + column;
	for (uint32_t i = 0; i < n; i++)
		if (i != column && fabs(row[i]) >= partner_share * largest)
			unite(separation, column, i);
}

/* Replaces the names of groups, which are columns so far, by numbers. */
static void number_groups(struct separation *separation)
{
	uint32_t numbers[SYMMETRIC_MAX + 1] = { 0 };

	for (uint32_t i = 0; i < separation->n; i++) {
		uint32_t name = separation->group[i];

		if (name && !numbers[name])
			numbers[name] = ++separation->n_groups;
		separation->group[i] = numbers[name];
	}
}

static bool are_finite(const double *numbers, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!isfinite(numbers[i]))
			return false;
	return true;
}

int separate(const struct symmetric *gram, const double *spread, struct factor *scratch,
	struct separation *ret)
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
		ret->inflation[i] = row[i] * spread[i];
		if (n > 1 && (ret->inflation[i] > inflation_max || row[i] > condition_max))
			find_partners(ret, i, row);
	}
	number_groups(ret);
	return 0;
}
