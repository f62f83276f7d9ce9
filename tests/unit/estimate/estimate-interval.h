/* SPDX-License-Identifier: BSD-3-Clause */
/* Intervals without any error, of which the rates come out exactly. */
#pragma once

#include "tests/unit/estimate/estimate-case.h"

enum { N_METRICS = 3, N_SERIES = SOCKETS * N_METRICS, N_SHARES = 4 };

/* One interval of three threads; region i moves i + 1 bytes/ns, and the metric's number times it.
 */
struct interval {
	struct estimate_row row;
	struct estimate_share shares[N_SHARES];
	double bytes[N_SERIES];
};

static inline void interval_fill(struct interval *interval, uint64_t dt_ns, uint64_t *seed)
{
	uint64_t inside_ns = 0;
	double moved = 0;

	for (uint32_t i = 0; i < N_SHARES; i++) {
		uint64_t time_ns = chance_next(seed) % (3 * dt_ns / N_SHARES);

		interval->shares[i] = (struct estimate_share){ i, time_ns };
		inside_ns += time_ns;
		moved += (double)((i + 1) * time_ns);
	}
	for (uint32_t i = 0; i < N_SERIES; i++)
		interval->bytes[i] = (i + 1) * moved;
	interval->row = (struct estimate_row){
		.dt_ns = dt_ns,
		.t0_ns = 10000,
		.outside_ns = 3 * dt_ns - inside_ns,
		.shares = interval->shares,
		.n_shares = N_SHARES,
		.n_threads = 3,
		.bytes = interval->bytes,
	};
}

static inline void add_many(
	const struct estimate *estimate, uint32_t n, uint64_t dt_ns, uint64_t *seed)
{
	struct interval interval;

	for (uint32_t i = 0; i < n; i++) {
		interval_fill(&interval, dt_ns, seed);
		assert_int_equal(estimate_add(estimate, &interval.row), 0);
	}
}

static inline void assert_rates(const struct estimate *estimate)
{
	struct estimate_result result;

	for (uint32_t i = 0; i < N_SERIES; i++) {
		assert_int_equal(
			estimate_solve(estimate, i / N_METRICS, i % N_METRICS, &result), 0);
		for (uint32_t k = 0; k < N_SHARES; k++) {
			double wanted = (i + 1) * (k + 1) * 1e9;

			assert_int_equal(result.values[k].state, ESTIMATE_KNOWN);
			assert_true(fabs(result.values[k].rate - wanted) < 1e-6 * wanted);
		}
	}
}
