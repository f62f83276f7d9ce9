/* SPDX-License-Identifier: BSD-3-Clause */
/* Derives the results for each region from the fit of a model. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "client/estimate/jackknife.h"

static const double significant = 3;       /* errors */
static const double steady_share = 0.1;    /* of the rate */
static const double additive_share = 0.03; /* of the bytes */
enum { HALF_BLOCKS_MIN = 4 };

struct solution {
	struct model model;
	struct jackknife run;
	struct jackknife halves[2];
	struct jackknife later; /* without the first block, in which the loads were learned */
};

/* A sum of bytes of some columns. */
struct part {
	bool has[MODEL_COLUMNS];
	double weights[MODEL_COLUMNS]; /* scaled coefficients x weights = bytes */
	double time_s;
};

static void part_add(const struct model *model, struct part *part, uint32_t position)
{
	part->has[position] = true;
	part->weights[position] = model->scale[position] * model->time_s[position];
	part->time_s += model->time_s[position];
}

/* The number of blocks @mask in which the part has time. *@ret_spread: the effective number,
 * smaller if the time is spread unequally. */
static uint32_t part_blocks(
	const struct model *model, const struct part *part, uint32_t mask, double *ret_spread)
{
	double sum = 0, squares = 0;
	uint32_t n = 0;

	for (uint32_t b = 0; b < ESTIMATE_BLOCKS; b++) {
		double time_s = 0;

		for (uint32_t i = 0; mask >> b & 1 && i < model->n_all; i++)
			if (part->has[i])
				time_s += model->blocks[b].time_s[model->columns[i]];
		n += time_s > 0;
		sum += time_s;
		squares += time_s * time_s;
	}
	*ret_spread = squares > 0 ? sum * sum / squares : 0;
	return n;
}

/* The error of the bytes. NAN: too few blocks. */
static double part_error(const struct solution *solution, const struct part *part)
{
	const struct model *model = &solution->model;
	double spread;

	if (part_blocks(model, part, model->usable, &spread) < ESTIMATE_BLOCKS_MIN)
		return NAN;
	return jackknife_error(model, &solution->run, part->weights) *
	       jackknife_stretch(spread - 1);
}

static void compare_halves(
	const struct solution *solution, const struct part *part, struct estimate_value *value)
{
	const struct model *model = &solution->model;
	double error[2], freedom = -2, spread, difference, limit;

	for (uint32_t h = 0; h < 2; h++) {
		const struct jackknife *half = &solution->halves[h];

		if (part_blocks(model, part, half->mask, &spread) < HALF_BLOCKS_MIN)
			return;
		freedom += spread;
		error[h] = jackknife_error(model, half, part->weights) / part->time_s;
		value->halves[h] =
			jackknife_sum(model, part->weights, half->with_all) / part->time_s;
	}
	difference = fabs(value->halves[0] - value->halves[1]);
	limit = significant * hypot(error[0], error[1]) * jackknife_stretch(freedom);
	value->not_steady = difference > limit && difference > steady_share * value->rate;
}

static const struct estimate_value unknown = { .rate = NAN,
	.rate_error = NAN,
	.rate_bound = NAN,
	.bytes = NAN,
	.bytes_error = NAN,
	.halves = { NAN, NAN } };

static void fill_value(
	const struct solution *solution, const struct part *part, struct estimate_value *ret)
{
	ret->time_s = part->time_s;
	ret->bytes = jackknife_sum(&solution->model, part->weights, solution->model.x);
	ret->rate = ret->bytes / part->time_s;
	ret->bytes_error = part_error(solution, part);
	ret->rate_error = ret->bytes_error / part->time_s;
	compare_halves(solution, part, ret);
}

static void fill_separable(
	const struct solution *solution, uint32_t position, struct estimate_value *ret)
{
	const struct model *model = &solution->model;
	struct part part = { 0 };

	part_add(model, &part, position);
	fill_value(solution, &part, ret);
	ret->state = ESTIMATE_KNOWN;
	if (model->is_free[position])
		return;
	ret->state = ESTIMATE_BOUND;
	ret->rate_bound = 2 * ret->rate_error;
}

static void fill_values(const struct solution *solution, struct estimate_result *ret)
{
	const struct model *model = &solution->model;

	for (uint32_t i = 0; i < ESTIMATE_COLUMNS; i++)
		ret->values[i] = unknown;
	for (uint32_t i = 0; i < model->n; i++) {
		struct estimate_value *value = &ret->values[model->columns[i]];

		value->inflation = model->separation.inflation[i];
		if (model->separation.group[i]) {
			value->state = ESTIMATE_NOT_SEPARABLE;
			value->group = model->separation.group[i] - 1;
			value->time_s = model->time_s[i];
		} else {
			fill_separable(solution, i, value);
		}
		ret->not_steady |= value->not_steady;
	}
}

static void fill_group(const struct solution *solution, uint32_t number, struct estimate_group *ret)
{
	const struct model *model = &solution->model;
	struct part part = { 0 };

	ret->n_columns = 0;
	ret->sum = unknown;
	for (uint32_t i = 0; i < model->n; i++) {
		if (model->separation.group[i] != 1 + number)
			continue;
		ret->columns[ret->n_columns++] = model->columns[i];
		part_add(model, &part, i);
	}
	/* Columns held at 0 stay there: their coefficients assume that each is let in alone, so
	 * these do not add up. */
	for (uint32_t i = 0; i < model->n; i++)
		if (!model->is_free[i])
			part.weights[i] = 0;
	fill_value(solution, &part, &ret->sum);
	ret->sum.state = ESTIMATE_KNOWN;
}

/* Tests whether all rates change with the load. */
static void test_crowd(const struct solution *solution, struct estimate_result *ret)
{
	const struct model *model = &solution->model;
	struct part part = { 0 };
	double bytes, error, spread;

	ret->crowd = NAN;
	if (model->n == model->n_all || !(model->bytes > 0))
		return;
	part_add(model, &part, model->n);
	if (part_blocks(model, &part, solution->later.mask, &spread) < ESTIMATE_BLOCKS_MIN - 1)
		return;
	bytes = jackknife_sum(model, part.weights, solution->later.with_all);
	error = jackknife_error(model, &solution->later, part.weights) *
		jackknife_stretch(spread - 1);
	ret->crowd = bytes / model->bytes;
	ret->not_additive = fabs(bytes) > significant * error && fabs(ret->crowd) > additive_share;
}

static void fill(const struct solution *solution, struct estimate_result *ret)
{
	const struct model *model = &solution->model;
	double explained = 0;

	*ret = (struct estimate_result){
		.n_blocks = (uint32_t)__builtin_popcount(model->usable),
		.n_spoilt = model->n_spoilt,
		.rows = model->rows,
		.dt_s = model->dt_s,
		.bytes = model->bytes,
		.has_wall = model->columns[model->n - 1] == ESTIMATE_WALL,
		.n_groups = model->separation.n_groups,
	};
	ret->no_errors = ret->n_blocks < ESTIMATE_BLOCKS_MIN;
	for (uint32_t i = 0; i < model->n; i++)
		explained += model->x[i] * model->scale[i] * model->time_s[i];
	ret->miss = model->bytes > 0 ? explained / model->bytes - 1 : NAN;
	ret->r2 = model->wall_squares > 1e-9 * model->squares
			  ? 1 - model->residual / model->wall_squares
			  : NAN;
	fill_values(solution, ret);
	for (uint32_t i = 0; i < ret->n_groups; i++) {
		fill_group(solution, i, &ret->groups[i]);
		ret->not_steady |= ret->groups[i].sum.not_steady;
	}
	test_crowd(solution, ret);
}

static int solve(struct solution *solution, const struct estimate *estimate, uint32_t index)
{
	struct model *model = &solution->model;
	uint32_t first;
	int r;

	r = model_make(estimate, index, model);
	if (r < 0)
		return r;
	first = jackknife_half(model);
	r = jackknife_make(model, model->usable, &solution->run);
	if (r >= 0)
		r = jackknife_make(model, first, &solution->halves[0]);
	if (r >= 0)
		r = jackknife_make(model, model->usable & ~first, &solution->halves[1]);
	if (r >= 0)
		r = jackknife_make(model, model->usable & ~UINT32_C(1), &solution->later);
	return r;
}

int estimate_solve(const struct estimate *estimate, uint32_t socket, uint32_t metric,
	struct estimate_result *ret)
{
	struct solution *solution;
	int r;

	if (socket >= estimate->n_sockets || metric >= estimate->n_metrics)
		return -EINVAL;
	solution = calloc(1, sizeof *solution);
	if (!solution)
		return -ENOMEM;
	r = solve(solution, estimate, socket * estimate->n_metrics + metric);
	if (r >= 0)
		fill(solution, ret);
	free(solution);
	return r;
}
