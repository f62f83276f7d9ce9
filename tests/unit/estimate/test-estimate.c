/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates for simulated teams, of which the truth is known. */
#include "tests/unit/estimate/estimate-case.h"

/* The arithmetic is the same under a sanitizer and on POWER, but takes ten times as long there. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || defined __powerpc64__
enum { SEEDS = 5 };
#else
enum { SEEDS = 50 };
#endif
enum { PASSAGES = 2000 };

/* Five regions whose rates differ by a factor of 15, and on the sockets in different ways. */
static struct team ordinary_team(uint64_t seed)
{
	return (struct team){
		.seed = seed * 7919,
		.n_members = 8,
		.rates = { { 1e9, 2e8 }, { 5e8, 5e8 }, { 2e8, 2e9 }, { 3e9, 1e9 }, { 8e8, 4e8 },
			{ 0, 0 } },
		.stay_s = { 1e-3, 0.5e-3, 2e-3, 1e-3, 1.5e-3, 0.8e-3 },
		.spread = 0.3,
		.jitter_s = 2e-6,
	};
}

static void simulate(struct team *team, uint64_t passages, struct estimate_result *ret_sockets)
{
	struct estimate estimate = estimate_empty(SOCKETS, 1);

	team_run(team, &estimate, passages);
	for (uint32_t s = 0; s < SOCKETS; s++)
		assert_int_equal(estimate_solve(&estimate, s, 0, &ret_sockets[s]), 0);
	free(estimate.memory);
}

static double true_rate(const struct team *team, uint32_t region, uint32_t socket)
{
	return team->truth[region][socket] / team->total_s[region];
}

static void assert_within(double value, double wanted, double part)
{
	if (!(fabs(value - wanted) <= part * fabs(wanted)))
		fail_msg("%g is not within %g %% of %g", value, 100 * part, wanted);
}

static void assert_errors(const struct estimate_value *value, double rate, double errors)
{
	assert_int_equal(value->state, ESTIMATE_KNOWN);
	if (!(fabs(value->rate - rate) <= errors * value->rate_error))
		fail_msg("%g +- %g is over %g errors from %g", value->rate, value->rate_error,
			errors, rate);
}

CASE("steady rates come out within 5 %")
{
	struct team team = ordinary_team(1);
	struct estimate_result result[SOCKETS];

	team.spread = 0.02;
	simulate(&team, PASSAGES, result);
	for (uint32_t s = 0; s < SOCKETS; s++) {
		for (uint32_t i = 0; i < REGIONS; i++)
			assert_within(result[s].values[i].rate, true_rate(&team, i, s), 0.05);
		assert_within(result[s].bytes, team.exact[s], 1e-3);
		assert_true(result[s].r2 > 0.98 && result[s].r2 <= 1);
		assert_false(result[s].not_steady);
		assert_true(result[s].is_additive);
		assert_false(result[s].has_wall);
		assert_int_equal(result[s].values[REGIONS].state, ESTIMATE_NO_DATA);
		assert_true(isnan(result[s].values[REGIONS].rate));
	}
}

/* --- many seeds --- */

struct coverage {
	uint32_t n, within_2, over_4, unsteady, crowded;
};

static void cover(const struct team *team, const struct estimate_result *result, uint32_t socket,
	struct coverage *coverage)
{
	for (uint32_t i = 0; i < REGIONS; i++) {
		const struct estimate_value *value = &result->values[i];
		double errors = fabs(value->rate - true_rate(team, i, socket)) / value->rate_error;

		if (value->state == ESTIMATE_BOUND)
			errors = true_rate(team, i, socket) <= 2 * value->rate_error ? 0 : 3;
		else
			assert_int_equal(value->state, ESTIMATE_KNOWN);
		coverage->n++;
		coverage->within_2 += errors <= 2;
		coverage->over_4 += !(errors <= 4);
	}
	coverage->unsteady += result->not_steady;
	coverage->crowded += !result->is_additive;
}

static struct coverage run_seeds(const struct team *like, uint64_t passages)
{
	struct coverage coverage = { 0 };
	struct estimate_result result[SOCKETS];

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct team team = *like;

		team.seed = seed * 7919;
		simulate(&team, passages, result);
		for (uint32_t s = 0; s < SOCKETS; s++)
			cover(&team, &result[s], s, &coverage);
	}
	return coverage;
}

static void assert_covered(const struct coverage *coverage)
{
	print_message("# %u of %u within 2 errors, %u over 4\n", coverage->within_2, coverage->n,
		coverage->over_4);
	assert_int_equal(coverage->n, SEEDS * SOCKETS * REGIONS);
	assert_true(coverage->within_2 >= 0.9 * coverage->n);
	assert_int_equal(coverage->over_4, 0);
}

CASE("errors hold the truth")
{
	struct team team = ordinary_team(1);
	struct coverage coverage = run_seeds(&team, PASSAGES);

	assert_covered(&coverage);
	assert_true(coverage.unsteady <= 2);
}

CASE("errors hold the truth of bursts")
{
	struct team team = ordinary_team(1);
	struct coverage coverage;

	team.spread = 1;
	coverage = run_seeds(&team, PASSAGES);
	assert_covered(&coverage);
}

/* Their time in each region hardly varies from one reading to the next. */
CASE("errors hold the truth of 32 members")
{
	struct team team = ordinary_team(1);
	struct coverage coverage;

	team.n_members = 32;
	coverage = run_seeds(&team, 4 * PASSAGES);
	assert_covered(&coverage);
}

/* Its estimate is at 0 in about half of the runs. */
CASE("a small rate is below its bound")
{
	struct estimate_result result[SOCKETS];
	uint32_t n_bounds = 0, n_held = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct team team = ordinary_team(seed);

		team.rates[4][0] = 1e7;
		team.rates[4][1] = 0;
		simulate(&team, PASSAGES, result);
		for (uint32_t s = 0; s < SOCKETS; s++) {
			const struct estimate_value *value = &result[s].values[4];

			if (value->state != ESTIMATE_BOUND)
				continue;
			assert_true(value->rate == 0);
			assert_true(2 * value->rate_error > 0 && 2 * value->rate_error < 5e8);
			n_bounds++;
			n_held += true_rate(&team, 4, s) <= 2 * value->rate_error;
		}
	}
	assert_true(n_bounds > SEEDS / 3);
	assert_true(n_held >= 0.95 * n_bounds);
}

/* --- what cannot be told apart --- */

CASE("a region and its shadow are not separable")
{
	struct team team = ordinary_team(3);
	struct estimate_result result[SOCKETS];

	team.spread = 0.02;
	team.stay_s[2] = 0;
	team.has_shadow = true;
	simulate(&team, PASSAGES, result);
	for (uint32_t s = 0; s < SOCKETS; s++) {
		for (uint32_t i = 0; i < REGIONS; i++)
			assert_int_equal(result[s].values[i].state,
				i == 1 || i == 2 ? ESTIMATE_NOT_SEPARABLE : ESTIMATE_KNOWN);
		assert_true(isnan(result[s].values[1].rate));
		assert_errors(&result[s].values[3], true_rate(&team, 3, s), 4);
	}
}

/* Rows made of independent times; columns 5 to 9 repeat earlier ones. */
static void fill_repeating(const struct estimate *estimate)
{
	uint64_t seed = 11;

	for (uint32_t n = 0; n < 500; n++) {
		struct estimate_share shares[10];
		double bytes = 0;
		struct estimate_row row = { .dt_ns = 1000000,
			.shares = shares,
			.n_shares = 10,
			.n_threads = 10,
			.bytes = &bytes };

		for (uint32_t i = 0; i < 10; i++)
			shares[i] = (struct estimate_share){ i, chance_next(&seed) % 1000000 };
		shares[5].time_ns = shares[0].time_ns;
		shares[6].time_ns = 2 * shares[1].time_ns;
		shares[7].time_ns = shares[8].time_ns = shares[9].time_ns = shares[2].time_ns;
		for (uint32_t i = 0; i < 10; i++)
			bytes += (double)((i + 1) * shares[i].time_ns);
		assert_int_equal(estimate_add(estimate, &row), 0);
	}
}

CASE("regions with the same time are not separable")
{
	static const bool repeated[10] = { true, true, true, false, false, true, true, true, true,
		true };
	struct estimate estimate = estimate_empty(1, 1);
	struct estimate_result result;

	fill_repeating(&estimate);
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), 0);
	for (uint32_t i = 0; i < 10; i++) {
		const struct estimate_value *value = &result.values[i];

		assert_int_equal(value->state == ESTIMATE_NOT_SEPARABLE, repeated[i]);
		if (!repeated[i])
			assert_within(value->rate, (i + 1) * 1e9, 1e-6);
	}
	free(estimate.memory);
}

/* Each region always has the same share of the time. */
CASE("regions that never vary are not separable")
{
	struct estimate_share shares[] = { { 0, 300000 }, { 1, 500000 } };
	struct estimate estimate = estimate_empty(1, 1);
	struct estimate_result result;
	double bytes = 1000;
	struct estimate_row row = { .dt_ns = 1000000,
		.outside_ns = 200000,
		.shares = shares,
		.n_shares = 2,
		.n_threads = 1,
		.bytes = &bytes };

	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(estimate_add(&estimate, &row), 0);
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(result.values[i].state, ESTIMATE_NOT_SEPARABLE);
	assert_int_equal(result.values[ESTIMATE_OUTSIDE].state, ESTIMATE_NOT_SEPARABLE);
	free(estimate.memory);
}

/* --- background --- */

static void assert_background(const struct estimate_value *value, double rate, double share)
{
	const double model_error = value->model_error / value->time_s;

	assert_errors(value, rate + share / 2, 4);
	assert_in_range(1000 * (model_error / share), 450, 650);
}

/* Nothing tells whether threads that are outside move it, or others at all times: the estimate is
 * in the middle, and the error of the model reaches both. */
CASE("half of a constant background is shared out")
{
	struct team team = ordinary_team(5);
	struct estimate_result result[SOCKETS];

	team.background[0] = 4e9;
	team.background[1] = 1e9;
	simulate(&team, 4 * PASSAGES, result);
	for (uint32_t s = 0; s < SOCKETS; s++) {
		double share = team.background[s] / team.n_members;

		for (uint32_t i = 0; i < REGIONS; i++)
			assert_background(&result[s].values[i], true_rate(&team, i, s), share);
		assert_errors(&result[s].values[ESTIMATE_OUTSIDE], share, 4);
		assert_false(result[s].has_wall);
	}
}

CASE("the wall time takes up background when members join")
{
	struct team team = ordinary_team(6);
	struct estimate_result result[SOCKETS];

	team.joins_s = 0.1;
	team.background[0] = 4e9;
	team.background[1] = 1e9;
	simulate(&team, 4 * PASSAGES, result);
	for (uint32_t s = 0; s < SOCKETS; s++) {
		assert_true(result[s].has_wall);
		for (uint32_t i = 0; i < REGIONS; i++)
			if (result[s].values[i].state != ESTIMATE_BOUND)
				assert_errors(&result[s].values[i], true_rate(&team, i, s), 4);
		assert_errors(&result[s].values[ESTIMATE_WALL], team.background[s], 4);
	}
}

/* --- where the model is exact, and where it does not hold --- */

CASE("with barriers the estimate is the exact value")
{
	static const double spreads[] = { 0, 0.3 }, tolerances[] = { 1e-4, 0.01 };
	struct estimate_result result[SOCKETS];

	for (uint32_t n = 0; n < 2; n++) {
		struct team team = ordinary_team(7 + n);

		team.all_together = true;
		team.jitter_s = 0;
		team.spread = spreads[n];
		simulate(&team, 20 * PASSAGES, result);
		for (uint32_t s = 0; s < SOCKETS; s++)
			for (uint32_t i = 0; i < REGIONS; i++)
				assert_within(
					result[s].values[i].bytes, team.truth[i][s], tolerances[n]);
	}
}

CASE("a saturated socket is not additive")
{
	struct team team = ordinary_team(1);
	struct coverage coverage;

	team.capacity = 6e9;
	coverage = run_seeds(&team, 4 * PASSAGES);
	assert_int_equal(coverage.crowded, SEEDS * SOCKETS);
}

/* At capacities from severe to hardly noticed. */
CASE("no saturated socket is additive, though rates are steady")
{
	for (double capacity = 5e9; capacity < 10e9; capacity += 2e9) {
		struct team team = ordinary_team(1);
		struct coverage coverage;

		team.spread = 0.02;
		team.capacity = capacity;
		coverage = run_seeds(&team, 4 * PASSAGES);
		assert_int_equal(coverage.crowded, SEEDS * SOCKETS);
	}
}

CASE("steady rates are additive")
{
	for (uint32_t n_members = 2; n_members <= 32; n_members *= 4) {
		struct team team = ordinary_team(1);
		struct coverage coverage;

		team.spread = 0.02;
		team.n_members = n_members;
		coverage = run_seeds(&team, 4 * PASSAGES);
		assert_true(coverage.crowded <= 2);
	}
}

CASE("a region that gets faster is not steady")
{
	struct team team = ordinary_team(9);
	struct estimate_result result[SOCKETS];

	team.faster_s = 1;
	simulate(&team, 4 * PASSAGES, result);
	for (uint32_t s = 0; s < SOCKETS; s++) {
		const double *halves = result[s].values[0].halves;

		for (uint32_t i = 0; i < REGIONS; i++)
			assert_int_equal(result[s].values[i].not_steady, i == 0);
		assert_true(result[s].not_steady);
		assert_true(halves[1] > 1.5 * halves[0]);
	}
}
