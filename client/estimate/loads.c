/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates the load of a thread in each region while readings arrive. It follows from how the
 * bytes of an interval vary with the time in that region, whatever the other regions do. These
 * loads are rough. But any loads that were fixed before the readings are good enough to test
 * whether rates add up.
 */
#include <math.h>

#include "client/estimate/sums.h"

enum { ROWS_MIN = 5 };                   /* for each column that has data */
static const double load_max = 30;       /* times the mean */
static const double least_spread = 1e-6; /* share of a square that is not constant in time */

/* Sums over all blocks. */
struct pooled {
	double rows;
	double time_s;
	double *gram; /* in the shared memory, so that no thread's stack needs 17 kB */
};

static void pool(const struct estimate *estimate, struct pooled *ret)
{
	*ret = (struct pooled){ .gram = sums_scratch(estimate) };
	for (uint32_t k = 0; k < SUMS_GRAM; k++)
		ret->gram[k] = 0;
	for (uint32_t b = 0; b < ESTIMATE_BLOCKS; b++) {
		const struct sums_block *block = sums_block(estimate, b);

		for (uint32_t k = 0; k < SUMS_GRAM; k++)
			ret->gram[k] += block->gram[k];
		for (uint32_t i = 0; i < ESTIMATE_WALL; i++)
			ret->time_s += sums_is_time(i) ? block->time_s[i] : 0;
		ret->rows += block->rows;
	}
}

static uint32_t n_columns(const struct pooled *pooled)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ESTIMATE_WALL; i++)
		n += sums_is_time(i) && pooled->gram[sums_at(i, i)] > 0;
	return n;
}

/* The mean over all readings, with the present loads. */
static double mean_square(const struct pooled *pooled, const double *loads)
{
	double sum = 0;

	for (uint32_t i = 0; i < ESTIMATE_WALL; i++)
		for (uint32_t k = 0; k <= i; k++)
			sum += (i == k ? 1 : 2) * loads[i] * loads[k] * pooled->gram[sums_at(i, k)];
	return sum / pooled->gram[sums_at(ESTIMATE_WALL, ESTIMATE_WALL)];
}

static double load_of(
	const struct pooled *pooled, const double *products, uint32_t column, double mean)
{
	double square = pooled->gram[sums_at(column, column)];
	double share = pooled->gram[sums_at(column, ESTIMATE_WALL)] /
		       pooled->gram[sums_at(ESTIMATE_WALL, ESTIMATE_WALL)];
	double spread = square - share * pooled->gram[sums_at(column, ESTIMATE_WALL)];
	double slope = 0;

	if (!(square > 0))
		return 0;
	if (spread > least_spread * square)
		slope = (products[column] - share * products[ESTIMATE_WALL]) / spread;
	return fmin(fmax(1 + slope / mean, 0), load_max);
}

static void learn_series(
	const struct estimate *estimate, const struct pooled *pooled, uint32_t series)
{
	struct sums_loads *to = sums_loads(estimate, series);
	double products[SUMS_COLUMNS] = { 0 }, bytes = 0;

	for (uint32_t b = 0; b < ESTIMATE_BLOCKS; b++) {
		const struct sums_series *from = &sums_block(estimate, b)->series[series];

		bytes += from->bytes;
		for (uint32_t i = 0; i < SUMS_COLUMNS; i++)
			products[i] += from->products[i];
	}
	if (!(bytes > 0) || !(pooled->time_s > 0))
		return;
	for (uint32_t i = 0; i < ESTIMATE_WALL; i++)
		to->loads[i] =
			sums_is_time(i) ? load_of(pooled, products, i, bytes / pooled->time_s) : 0;
	to->square = mean_square(pooled, to->loads);
}

void loads_learn(const struct estimate *estimate)
{
	struct pooled pooled;

	pool(estimate, &pooled);
	if (pooled.rows < ROWS_MIN * n_columns(&pooled))
		return;
	for (uint32_t i = 0; i < estimate->n_sockets * estimate->n_metrics; i++)
		learn_series(estimate, &pooled, i);
}
