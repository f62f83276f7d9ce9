/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "client/estimate/symmetric.h"

/*
 * Non-negative least squares on normal equations (Lawson and Hanson 1974, chapter 23): the
 * coefficients of the first @n columns of @gram, which are scaled to length 1. @ret_free[]: whether
 * a column is not held at 0. 0; -EBADMSG: not positive definite. Ends after 3 x n exchanges at the
 * latest, with coefficients that are not negative.
 */
int nonnegative_solve(const struct symmetric *gram, const double *products, uint32_t n,
	double *ret_x, bool *ret_free);
