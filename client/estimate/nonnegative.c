/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/estimate/symmetric.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/macro.h"

struct active_set {
	const struct symmetric *gram;
	const double *products;
	uint32_t n;
	double tolerance;
	double *x;
	bool *is_free;
	bool refused[SYMMETRIC_MAX]; /* let in, and thrown out at once, since x last changed */
	struct factor factor;
};

/* How fast the sum of squares falls when @column grows. */
static double gain(const struct active_set *search, uint32_t column)
{
	double sum = search->products[column];

	for (uint32_t i = 0; i < search->n; i++)
		sum -= search->gram->at[column][i] * search->x[i];
	return sum;
}

/* The column that gains most; n: none gains. */
static uint32_t best(const struct active_set *search)
{
	uint32_t found = search->n;
	double most = search->tolerance;

	for (uint32_t i = 0; i < search->n; i++) {
		double gained = search->is_free[i] || search->refused[i] ? 0 : gain(search, i);

		if (gained > most) {
			most = gained;
			found = i;
		}
	}
	return found;
}

/* Moves x towards @wanted until a coefficient becomes 0, which is then held there. False: x has
 * reached @wanted. */
static bool go_towards(struct active_set *search, const double *wanted)
{
	double *x = search->x, step = 1;

	for (uint32_t i = 0; i < search->n; i++)
		if (search->is_free[i] && wanted[i] <= 0 && x[i] > wanted[i])
			step = fmin(step, x[i] / (x[i] - wanted[i]));
	for (uint32_t i = 0; i < search->n; i++) {
		if (!search->is_free[i])
			continue;
		x[i] += step * (wanted[i] - x[i]);
		if (wanted[i] <= 0 && x[i] <= search->tolerance) {
			x[i] = 0;
			search->is_free[i] = false;
		}
	}
	return step < 1;
}

/* Ends because each round holds one more column at 0. */
static int settle(struct active_set *search)
{
	double wanted[SYMMETRIC_MAX];
	int r;

	for (uint32_t round = 0; round <= search->n; round++) {
		r = factor_make(search->gram, search->is_free, &search->factor);
		if (r < 0)
			return r;
		factor_solve(&search->factor, search->products, wanted);
		if (!go_towards(search, wanted))
			break;
	}
	return 0;
}

static int exchange(struct active_set *search)
{
	uint32_t column;
	int r;

	for (uint32_t round = 0; round < 3 * search->n; round++) {
		column = best(search);
		if (column == search->n)
			break;
		search->is_free[column] = true;
		r = settle(search);
		if (r < 0)
			return r;
		if (search->is_free[column])
			memset(search->refused, 0, sizeof search->refused);
		else
			search->refused[column] = true;
	}
	return 0;
}

int nonnegative_solve(const struct symmetric *gram, const double *products, uint32_t n,
	double *ret_x, bool *ret_free)
{
	_cleanup_free_ struct active_set *search = calloc(1, sizeof *search);
	double largest = 0;

	if (!search)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		largest = fmax(largest, fabs(products[i]));
	*search = (struct active_set){
		.gram = gram,
		.products = products,
		.n = n,
		.tolerance = 1e-12 * largest,
		.x = ret_x,
		.is_free = ret_free,
	};
	for (uint32_t i = 0; i < SYMMETRIC_MAX; i++) {
		ret_x[i] = 0;
		ret_free[i] = false;
	}
	return exchange(search);
}
