/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric positive definite systems in some of their columns (Cholesky). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/estimate/sums.h"

enum { SYMMETRIC_MAX = SUMS_COLUMNS + 1 };

struct symmetric {
	uint32_t n;
	double at[SYMMETRIC_MAX][SYMMETRIC_MAX];
};

/* The factor of the columns that are in. */
struct factor {
	uint32_t n;
	uint8_t columns[SYMMETRIC_MAX];
	double lower[SYMMETRIC_MAX][SYMMETRIC_MAX];
};

/* Factors the columns of @a where @in[] is true. 0; -EBADMSG: not positive definite. */
int factor_make(const struct symmetric *a, const bool *in, struct factor *ret);

/* Solves for the columns of @factor; both vectors are of all columns, 0 where it has none. */
void factor_solve(const struct factor *factor, const double *products, double *ret);

/*
 * The coefficient that @column, which @factor has not, would have beside those of @factor. NAN:
 * they determine it.
 */
double factor_let_in(const struct symmetric *a, const struct factor *factor, const double *products,
	uint32_t column);
