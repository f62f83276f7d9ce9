/* SPDX-License-Identifier: BSD-3-Clause */
/* Derives the results for each region from the fit of a model. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "client/estimate/jackknife.h"

static const double significant = 3;    /* errors */
static const double steady_share = 0.1; /* of the rate */
static const double bent_share = 0.03;  /* of the bytes */
static const double additive_r2 = 0.98;
static const double edges_share = 0.7; /* of the bytes */
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

/* A column that is held at 0 stays there unless it is let in. */
static void part_add(const struct model *model, struct part *part, uint32_t position, bool lets_in)
{
	const uint32_t column = model->columns[position];

	part->has[position] = true;
	if (lets_in || model->is_free[position])
		part->weights[position] = model->scale[position] * model->time_s[position];
	if (sums_is_time(column) || column == ESTIMATE_WALL || column == MODEL_CROWD)
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

static const struct estimate_value unknown = {
	.rate = NAN, .rate_error = NAN, .bytes = NAN, .bytes_error = NAN, .halves = { NAN, NAN }
};

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

/* The position of a column; .n: the model does not have it. */
static uint32_t position_of(const struct model *model, uint32_t column)
{
	uint32_t i = 0;

	while (i < model->n && model->columns[i] != column)
		i++;
	return i;
}

static bool is_free(const struct model *model, uint32_t region)
{
	for (uint32_t i = 0; i < model->n; i++)
		if (estimate_region_of(model->columns[i]) == region && model->is_free[i])
			return true;
	return false;
}

/* All columns of a region. Those held at 0 are let in only if all are held. Their coefficients
 * assume that each is let in alone, so these do not add up. */
static void part_of(const struct model *model, uint32_t region, struct part *ret)
{
	const bool lets_in = !is_free(model, region);

	*ret = (struct part){ .time_s = 0 };
	for (uint32_t i = 0; i < model->n; i++)
		if (estimate_region_of(model->columns[i]) == region)
			part_add(model, ret, i, lets_in);
}

static bool is_bound(const struct model *model, uint32_t region)
{
	for (uint32_t i = 0; i < model->n; i++)
		if (estimate_region_of(model->columns[i]) == region &&
			model->separation.is_bound[i])
			return true;
	return false;
}

/*
 * Traffic while threads are outside of all regions may be theirs, or a background that goes on
 * while they are inside. With a constant number of threads nothing tells which. The estimate is in
 * the middle, and the error of the model is half of the difference.
 */
static void share_background(
	const struct solution *solution, struct part *part, struct estimate_value *value)
{
	const struct model *model = &solution->model;
	const uint32_t i = position_of(model, ESTIMATE_OUTSIDE);
	struct part outside;
	double half_s;

	if (i == model->n || model->columns[model->n - 1] == ESTIMATE_WALL)
		return;
	part_of(model, ESTIMATE_OUTSIDE, &outside);
	half_s = part->time_s / 2;
	value->model_error =
		(model->x[i] * model->scale[i] + part_error(solution, &outside) / outside.time_s) *
		half_s;
	if (model->is_free[i])
		part->weights[i] = -model->scale[i] * half_s;
}

static void fill_region(
	const struct solution *solution, uint32_t region, struct estimate_value *ret)
{
	const struct model *model = &solution->model;
	struct part part;

	part_of(model, region, &part);
	ret->time_s = part.time_s;
	if (!(part.time_s > 0))
		return;
	if (is_bound(model, region)) {
		ret->state = ESTIMATE_NOT_SEPARABLE;
		return;
	}
	ret->state = is_free(model, region) ? ESTIMATE_KNOWN : ESTIMATE_BOUND;
	ret->model_error = 0;
	if (region < ESTIMATE_REGIONS_MAX && ret->state == ESTIMATE_KNOWN)
		share_background(solution, &part, ret);
	fill_value(solution, &part, ret);
}

static void fill_values(const struct solution *solution, struct estimate_result *ret)
{
	const struct model *model = &solution->model;

	for (uint32_t i = 0; i < ESTIMATE_COLUMNS; i++)
		ret->values[i] = unknown;
	for (uint32_t i = 0; i < model->n; i++) {
		const uint32_t column = model->columns[i];

		if (!sums_is_time(column) && column != ESTIMATE_WALL)
			continue;
		fill_region(solution, column, &ret->values[column]);
		ret->not_steady |= ret->values[column].not_steady;
	}
}

/* Tests whether all rates change with the load. */
static void test_crowd(const struct solution *solution, struct estimate_result *ret)
{
	const struct model *model = &solution->model;
	struct part part = { 0 };
	double spread;

	if (model->n == model->n_all || !(model->bytes > 0))
		return;
	part_add(model, &part, model->n, true);
	if (part_blocks(model, &part, solution->later.mask, &spread) < ESTIMATE_BLOCKS_MIN - 1)
		return;
	ret->crowd = jackknife_median(model, &solution->later, part.weights, &ret->crowd_error) /
		     model->bytes;
	ret->crowd_error *= jackknife_stretch(spread - 1) / model->bytes;
}

/* What passages move at their begin and end does not depend on the load. */
static bool is_additive(const struct solution *solution, const struct estimate_result *result)
{
	const struct model *model = &solution->model;
	double edges = 0;

	for (uint32_t i = 0; i < model->n; i++)
		if (estimate_region_of(model->columns[i]) != model->columns[i])
			edges += model->x[i] * model->scale[i] * model->time_s[i];
	return edges >= edges_share * model->bytes ||
	       (result->r2 >= additive_r2 &&
		       result->crowd - 2 * result->crowd_error >= -bent_share);
}

static double explained_share(const struct solution *solution)
{
	const struct model *model = &solution->model;
	double shares[ESTIMATE_BLOCKS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < ESTIMATE_BLOCKS; i++) {
		const double spread = model->usable >> i & 1 ? model_spread(model, i) : 0;

		if (spread > 1e-9 * model->blocks[i].squares)
			shares[n++] = 1 - model_miss(model, i, solution->run.with_all) / spread;
	}
	return n ? jackknife_middle(shares, n) : NAN;
}

static void fill(const struct solution *solution, struct estimate_result *ret)
{
	const struct model *model = &solution->model;
	*ret = (struct estimate_result){
		.n_blocks = (uint32_t)__builtin_popcount(model->usable),
		.n_spoilt = model->n_spoilt,
		.rows = model->rows,
		.dt_s = model->dt_s,
		.bytes = model->bytes,
		.crowd = NAN,
		.crowd_error = NAN,
		.has_edges = model->has_edges,
		.has_wall = model->columns[model->n - 1] == ESTIMATE_WALL,
	};
	ret->r2 = explained_share(solution);
	fill_values(solution, ret);
	test_crowd(solution, ret);
	ret->is_additive = is_additive(solution, ret);
}

static int fit(struct solution *solution, const struct estimate *estimate, uint32_t index)
{
	const int r = model_make(estimate, index, &solution->model);

	return r < 0 ? r : jackknife_make(&solution->model, solution->model.usable, &solution->run);
}

/* Fits parts of the time, for the tests. */
static int fit_parts(struct solution *solution)
{
	struct model *model = &solution->model;
	const uint32_t all = model->usable, first = jackknife_half(model);
	int r = jackknife_make(model, first, &solution->halves[0]);

	if (r >= 0)
		r = jackknife_make(model, all & ~first, &solution->halves[1]);
	return r < 0 ? r : jackknife_make(model, all & ~UINT32_C(1), &solution->later);
}

/* --- which model --- */

/* Adds the distance between the two models to the errors. */
static void compare(const struct estimate_result *other, struct estimate_result *ret)
{
	for (uint32_t i = 0; i < ESTIMATE_REGIONS_MAX; i++)
		if (ret->values[i].state == ESTIMATE_KNOWN &&
			other->values[i].state == ESTIMATE_KNOWN)
			ret->values[i].model_error +=
				fabs(ret->values[i].bytes - other->values[i].bytes);
}

/* Two models of one series. */
struct solutions {
	struct solution simple, full;
	struct estimate_result scratch;
};

static uint32_t count_bound(const struct model *model)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ESTIMATE_REGIONS_MAX; i++)
		n += is_bound(model, i);
	return n;
}

/* By how many errors is the full model better? Not at all if it cannot tell regions apart that the
 * other one can: where one region begins as another one ends, their columns are equal. */
static double advantage(const struct solution *simple, const struct solution *full)
{
	if (count_bound(&full->model) > count_bound(&simple->model))
		return 0;
	return jackknife_advantage(&simple->model, &simple->run, &full->model, &full->run);
}

/* Only the chosen model is tested. */
static int choose(struct solutions *solutions, struct estimate_result *ret)
{
	struct solution *simple = &solutions->simple, *full = &solutions->full;
	const double errors = advantage(simple, full);
	const int r = fit_parts(errors > 1 ? full : simple);

	if (r < 0)
		return r;
	fill(errors > 1 ? full : simple, ret);
	if (errors > significant)
		return 0;
	fill(errors > 1 ? simple : full, &solutions->scratch);
	compare(&solutions->scratch, ret);
	return 0;
}

static bool has_series(const struct estimate *estimate, uint32_t socket, uint32_t metric)
{
	return socket < estimate->n_sockets && metric < estimate->n_metrics;
}

int estimate_solve(const struct estimate *estimate, uint32_t socket, uint32_t metric,
	struct estimate_result *ret)
{
	const uint32_t index = socket * estimate->n_metrics + metric;
	struct solutions *solutions;
	int r;

	if (!has_series(estimate, socket, metric))
		return -EINVAL;
	solutions = calloc(1, sizeof *solutions);
	if (!solutions)
		return -ENOMEM;
	solutions->full.model.has_edges = true;
	r = fit(&solutions->simple, estimate, index);
	if (r >= 0)
		r = fit(&solutions->full, estimate, index);
	if (r >= 0)
		r = choose(solutions, ret);
	free(solutions);
	return r;
}

int estimate_solve_like(const struct estimate *estimate, uint32_t socket, uint32_t metric,
	const struct estimate_result *like, struct estimate_result *ret)
{
	struct solution *solution;
	int r;

	if (!has_series(estimate, socket, metric))
		return -EINVAL;
	solution = calloc(1, sizeof *solution);
	if (!solution)
		return -ENOMEM;
	solution->model.has_edges = like->has_edges;
	r = fit(solution, estimate, socket * estimate->n_metrics + metric);
	if (r >= 0)
		r = fit_parts(solution);
	if (r >= 0)
		fill(solution, ret);
	free(solution);
	return r;
}
