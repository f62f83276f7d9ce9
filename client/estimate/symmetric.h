/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric positive definite systems, solved for a subset of their columns (Cholesky). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/estimate/sums.h"

enum { SYMMETRIC_MAX = SUMS_COLUMNS + 1 };

struct symmetric {
	uint32_t n;
	double at[SYMMETRIC_MAX][SYMMETRIC_MAX];
};

/* The factor of the columns in the subset. */
struct factor {
	uint32_t n;
	uint8_t columns[SYMMETRIC_MAX];
	double lower[SYMMETRIC_MAX][SYMMETRIC_MAX];
};

/* Factors the columns of @a with @in[] true. 0; -EBADMSG: not positive definite. */
int factor_make(const struct symmetric *a, const bool *in, struct factor *ret);

/* Solves for the columns of @factor. Both vectors have all columns; those not in @factor are 0. */
void factor_solve(const struct factor *factor, const double *products, double *ret);

/*
 * The coefficient that @column, which is not in @factor, would have if it were added to @factor.
 * NAN: the columns of @factor determine it.
 */
double factor_let_in(const struct symmetric *a, const struct factor *factor, const double *products,
	uint32_t column);

/*
 * Non-negative least squares on normal equations (Lawson and Hanson 1974, chapter 23): the
 * coefficients of the first @n columns of @gram, which are scaled to length 1. @ret_free[]: whether
 * a column is not held at 0. 0; -EBADMSG: not positive definite. Ends after 3 x n exchanges at the
 * latest, with coefficients that are not negative.
 */
int nonnegative_solve(const struct symmetric *gram, const double *products, uint32_t n,
	double *ret_x, bool *ret_free);

struct separation {
	uint32_t n;
	bool is_bound[SYMMETRIC_MAX]; /* to a column of another region */
};

/*
 * Finds which of the first @ret->n columns of @gram, scaled to length 1, are not separable.
 * @columns[]: their names.
 * @spread[]: the share of a column's square that is not constant in time. 0; -EBADMSG: not positive
 * definite.
 */
int separate(const struct symmetric *gram, const double *spread, const uint8_t *columns,
	struct factor *scratch, struct separation *ret);
