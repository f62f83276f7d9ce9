/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/estimate/model.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const double ridge = 1e-10;      /* far above rounding errors, far below relevant values */
static const double number_max = 1e100; /* so that products of sums stay finite */

/* --- the copy --- */

static bool are_sane(const void *memory, size_t size, double least)
{
	const double *numbers = memory;

	for (size_t i = 0; i < size / sizeof *numbers; i++)
		if (!(numbers[i] >= least && numbers[i] < number_max))
			return false;
	return true;
}

static void join(
	struct model_block *to, const struct sums_block *sums, const struct sums_series *series)
{
	to->rows = sums->rows;
	to->dt_s = sums->dt_s;
	to->bytes = series->bytes;
	to->squares = series->squares;
	memcpy(to->time_s, sums->time_s, sizeof sums->time_s);
	to->time_s[MODEL_CROWD] = series->crowd_s;
	memcpy(to->gram, sums->gram, sizeof sums->gram);
	memcpy(&to->gram[SUMS_GRAM], series->crowd, sizeof series->crowd);
	memcpy(to->products, series->products, sizeof series->products);
	to->products[MODEL_CROWD] = series->crowd_product;
}

static bool is_whole(const struct sums_block *sums, const struct sums_series *series)
{
	return are_sane(sums, sizeof *sums, 0) && sums->begun_s == sums->dt_s &&
	       are_sane(series, sizeof *series, -number_max) &&
	       are_sane(series, offsetof(struct sums_series, crowd), 0) &&
	       series->begun_s == series->dt_s && series->dt_s == sums->dt_s;
}

/* Copies before it checks, because others may write to the sums. */
static void load_block(
	struct model *model, const struct estimate *estimate, uint32_t index, uint32_t i)
{
	struct sums_block sums;
	struct sums_series series;

	memcpy(&sums, sums_block(estimate, i), sizeof sums);
	memcpy(&series, &sums_block(estimate, i)->series[index], sizeof series);
	if (!is_whole(&sums, &series) || 1 + i == model->header.busy) {
		model->n_spoilt++;
	} else if (sums.rows > 0) {
		join(&model->blocks[i], &sums, &series);
		model->usable |= UINT32_C(1) << i;
	}
}

static int load(struct model *model, const struct estimate *estimate, uint32_t index)
{
	memcpy(&model->header, estimate->memory, sizeof model->header);
	if (model->header.busy > SUMS_MERGING || model->header.current >= ESTIMATE_BLOCKS)
		return -EBADMSG;
	if (model->header.busy == SUMS_MERGING)
		return -EAGAIN;
	for (uint32_t i = 0; i < ESTIMATE_BLOCKS; i++)
		load_block(model, estimate, index, i);
	return model->usable ? 0 : -ENODATA;
}

static void add_up(struct model *model)
{
	for (uint32_t i = 0; i < ESTIMATE_BLOCKS; i++) {
		const struct model_block *block = &model->blocks[i];

		if (!(model->usable >> i & 1))
			continue;
		model->rows += block->rows;
		model->dt_s += block->dt_s;
		model->bytes += block->bytes;
	}
}

/* --- columns --- */

static double sum_of(const struct model *model, uint32_t a, uint32_t mask)
{
	double sum = 0;

	for (uint32_t i = 0; i < ESTIMATE_BLOCKS; i++)
		if (mask >> i & 1)
			sum += model->blocks[i].gram[a];
	return sum;
}

static void take_column(struct model *model, uint32_t column)
{
	double square = sum_of(model, sums_at(column, column), model->usable);
	double wall = sum_of(model, sums_at(column, ESTIMATE_WALL), model->usable);
	double walls = sum_of(model, sums_at(ESTIMATE_WALL, ESTIMATE_WALL), model->usable);
	uint32_t position = model->n_all;

	if (!(square > 0 && walls > 0))
		return;
	model->columns[position] = (uint8_t)column;
	model->scale[position] = 1 / sqrt(square);
	model->time_s[position] = 0;
	for (uint32_t i = 0; i < ESTIMATE_BLOCKS; i++)
		if (model->usable >> i & 1)
			model->time_s[position] += model->blocks[i].time_s[column];
	model->spread[position] = 1;
	if (column != ESTIMATE_WALL)
		model->spread[position] -= wall * wall / (square * walls);
	model->n_all++;
}

static void take_columns(struct model *model, bool with_wall)
{
	model->n_all = 0;
	for (uint32_t i = 0; i <= ESTIMATE_OUTSIDE; i++)
		if (model->has_edges || sums_is_time(i))
			take_column(model, i);
	if (with_wall)
		take_column(model, ESTIMATE_WALL);
	model->n = model->n_all;
	take_column(model, MODEL_CROWD);
}

/* Sums up the normal equations of the blocks @mask, scaled as for all blocks. */
static void pool(struct model *model, uint32_t mask)
{
	struct symmetric *gram = &model->gram;

	gram->n = model->n_all;
	for (uint32_t i = 0; i < model->n_all; i++) {
		uint32_t column = model->columns[i];

		for (uint32_t k = 0; k <= i; k++) {
			double sum = sum_of(model, sums_at(column, model->columns[k]), mask);

			gram->at[i][k] = gram->at[k][i] = sum * model->scale[i] * model->scale[k];
		}
		gram->at[i][i] += ridge;
		model->products[i] = 0;
		for (uint32_t b = 0; b < ESTIMATE_BLOCKS; b++)
			if (mask >> b & 1)
				model->products[i] +=
					model->blocks[b].products[column] * model->scale[i];
	}
}

/* Adds the column of the wall time if the number of threads varied enough to separate it. */
static int choose_columns(struct model *model)
{
	bool varied = model->header.n_threads_least < model->header.n_threads_most;
	uint32_t wall;
	int r;

	for (;;) {
		take_columns(model, varied);
		if (!model->n)
			return -ENODATA;
		pool(model, model->usable);
		model->separation.n = model->n;
		r = separate(&model->gram, model->spread, model->columns, &model->factor,
			&model->separation);
		wall = model->n - 1;
		if (r < 0 || !varied || model->columns[wall] != ESTIMATE_WALL ||
			!model->separation.is_bound[wall])
			return r;
		varied = false;
	}
}

int model_make(const struct estimate *estimate, uint32_t index, struct model *model)
{
	int r = load(model, estimate, index);

	if (r < 0)
		return r;
	add_up(model);
	r = choose_columns(model);
	if (r < 0)
		return r;
	return nonnegative_solve(&model->gram, model->products, model->n, model->x, model->is_free);
}

int model_fit(struct model *model, uint32_t mask, double *ret)
{
	int r;

	pool(model, mask);
	r = factor_make(&model->gram, model->is_free, &model->factor);
	if (r < 0)
		return r;
	factor_solve(&model->factor, model->products, ret);
	for (uint32_t i = 0; i < model->n_all; i++)
		if (!model->is_free[i])
			ret[i] = factor_let_in(&model->gram, &model->factor, model->products, i);
	return 0;
}

double model_miss(const struct model *model, uint32_t block, const double *coefficients)
{
	const struct model_block *sums = &model->blocks[block];
	double scaled[MODEL_COLUMNS] = { 0 }, miss = sums->squares;

	for (uint32_t i = 0; i < model->n; i++)
		if (model->is_free[i])
			scaled[i] = coefficients[i] * model->scale[i];
	for (uint32_t i = 0; i < model->n; i++) {
		miss -= 2 * scaled[i] * sums->products[model->columns[i]];
		for (uint32_t k = 0; k < model->n; k++)
			miss += scaled[i] * scaled[k] *
				sums->gram[sums_at(model->columns[i], model->columns[k])];
	}
	return miss;
}

double model_spread(const struct model *model, uint32_t block)
{
	const struct model_block *sums = &model->blocks[block];
	const double wall = sums->products[ESTIMATE_WALL];

	return sums->squares - wall * wall / sums->gram[sums_at(ESTIMATE_WALL, ESTIMATE_WALL)];
}
