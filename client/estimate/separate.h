/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "client/estimate/symmetric.h"

struct separation {
	uint32_t n;
	double inflation[SYMMETRIC_MAX]; /* of the variance; 1: none */
	uint32_t n_groups;               /* of 2 columns or more */
	uint32_t group[SYMMETRIC_MAX];   /* 1 + its number; 0: separable */
};

/*
 * Finds which of the first @ret->n columns of @gram, scaled to length 1, are not separable.
 * @spread[]: the share of a column's square that is not constant in time. 0; -EBADMSG: not positive
 * definite.
 */
int separate(const struct symmetric *gram, const double *spread, struct factor *scratch,
	struct separation *ret);
