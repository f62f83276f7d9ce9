/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of the estimate: blocks of time, what is counted, and memory that holds anything. */
#include <errno.h>
#include <string.h>

#include "client/estimate/sums.h"
#include "tests/unit/estimate/estimate-interval.h"

CASE("sizes are bounded")
{
	assert_int_equal(estimate_bytes(0, 6), 0);
	assert_int_equal(estimate_bytes(2, 0), 0);
	assert_int_equal(estimate_bytes(16, 17), 0);
	assert_int_equal(estimate_bytes(UINT32_MAX, UINT32_MAX), 0);
	assert_in_range(estimate_bytes(2, 6), 1590000, 1605000);
	assert_in_range(estimate_bytes(16, 16), 9500000, 10500000);
}

CASE("nothing gives no estimate")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	struct estimate_result result;

	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), -ENODATA);
	assert_int_equal(estimate_solve(&estimate, SOCKETS, 0, &result), -EINVAL);
	assert_int_equal(estimate_solve(&estimate, 0, N_METRICS, &result), -EINVAL);
	free(estimate.memory);
}

CASE("a run of any length has 8 to 16 blocks")
{
	static const uint64_t lengths_ns[] = { 1000, 300000, 1000000, 1000000000 };
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	struct estimate_result result;
	uint64_t seed = 1;
	double dt_s = 0;

	for (uint32_t i = 0; i < 4; i++) {
		add_many(&estimate, 3000, lengths_ns[i], &seed);
		dt_s += 3000 * (double)lengths_ns[i] / 1e9;
		assert_int_equal(estimate_solve(&estimate, 1, 2, &result), 0);
		assert_true(fabs(result.dt_s - dt_s) < 1e-9 * dt_s);
		assert_true(result.rows == 3000 * (i + 1));
		if (i > 0)
			assert_in_range(result.n_blocks, 8, 16);
	}
	assert_rates(&estimate);
	free(estimate.memory);
}

/* Rows of a second come into 8 blocks once all 16 are full: these must not be merged for each 8
 * rows. */
CASE("blocks are as long as rows that are longer than they were")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	uint64_t seed = 3;

	add_many(&estimate, ESTIMATE_BLOCKS + 1, 1000000000, &seed);
	assert_true(fabs(sums_header(&estimate)->block_s - 2) < 1e-9);
	for (uint32_t i = 0; i < ESTIMATE_BLOCKS / 2; i++)
		assert_true(fabs(sums_block(&estimate, i)->dt_s - 2) < 1e-9);
	free(estimate.memory);
}

CASE("few blocks have no errors")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	struct estimate_result result;
	uint64_t seed = 2;

	add_many(&estimate, 7, 2000000, &seed);
	assert_rates(&estimate);
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), 0);
	assert_int_equal(result.n_blocks, 7);
	assert_true(isnan(result.values[0].rate_error) && isnan(result.values[0].bytes_error));
	add_many(&estimate, 1, 2000000, &seed);
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), 0);
	assert_true(result.values[0].rate_error >= 0);
	free(estimate.memory);
}

CASE("a region seen briefly has no error")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	struct estimate_result result;
	struct interval interval;
	uint64_t seed = 3;

	for (uint32_t i = 0; i < 100; i++) {
		interval_fill(&interval, 2000000, &seed);
		if (i < 20)
			interval.shares[2].region = 20;
		assert_int_equal(estimate_add(&estimate, &interval.row), 0);
	}
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), 0);
	assert_int_equal(result.values[20].state, ESTIMATE_KNOWN);
	assert_true(fabs(result.values[20].rate - 3e9) < 1e4);
	assert_true(isnan(result.values[20].rate_error));
	assert_false(isnan(result.values[2].rate_error));
	free(estimate.memory);
}

CASE("an absent value spoils one block of one metric")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	struct estimate_result with, without;
	struct interval interval;
	uint64_t seed = 4;

	add_many(&estimate, 100, 1000000, &seed);
	interval_fill(&interval, 1000000, &seed);
	interval.bytes[4] = NAN;
	assert_int_equal(estimate_add(&estimate, &interval.row), 0);
	add_many(&estimate, 100, 1000000, &seed);
	assert_int_equal(estimate_solve(&estimate, 1, 0, &with), 0);
	assert_int_equal(estimate_solve(&estimate, 1, 1, &without), 0);
	assert_int_equal(with.n_spoilt, 0);
	assert_int_equal(without.n_spoilt, 1);
	assert_int_equal(without.n_blocks, with.n_blocks - 1);
	assert_true(without.rows < with.rows);
	assert_rates(&estimate);
	free(estimate.memory);
}

CASE("a metric that is always absent has no data")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	struct estimate_result result;
	struct interval interval;
	uint64_t seed = 5;

	for (uint32_t i = 0; i < 100; i++) {
		interval_fill(&interval, 1000000, &seed);
		interval.bytes[0] = NAN;
		assert_int_equal(estimate_add(&estimate, &interval.row), 0);
	}
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), -ENODATA);
	assert_int_equal(estimate_solve(&estimate, 0, 1, &result), 0);
	free(estimate.memory);
}

CASE("no traffic is bounded by 0")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	struct estimate_result result;
	struct interval interval;
	uint64_t seed = 6;

	for (uint32_t i = 0; i < 100; i++) {
		interval_fill(&interval, 1000000, &seed);
		memset(interval.bytes, 0, sizeof interval.bytes);
		assert_int_equal(estimate_add(&estimate, &interval.row), 0);
	}
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), 0);
	assert_int_equal(result.values[0].state, ESTIMATE_BOUND);
	assert_true(2 * result.values[0].rate_error == 0 && result.values[0].bytes == 0);
	assert_true(isnan(result.r2));
	free(estimate.memory);
}

/* --- what is counted --- */

CASE("nonsense is not added")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	struct interval interval;
	uint64_t seed = 7;

	interval_fill(&interval, 1000000, &seed);
	interval.row.dt_ns = 0;
	assert_int_equal(estimate_add(&estimate, &interval.row), -EINVAL);
	interval_fill(&interval, 1000000, &seed);
	interval.shares[1].time_ns = UINT64_MAX;
	assert_int_equal(estimate_add(&estimate, &interval.row), -EINVAL);
	interval_fill(&interval, 1000000, &seed);
	interval.bytes[5] = -1;
	assert_int_equal(estimate_add(&estimate, &interval.row), -EINVAL);
	interval.bytes[5] = INFINITY;
	assert_int_equal(estimate_add(&estimate, &interval.row), -EINVAL);
	add_many(&estimate, 100, 1000000, &seed);
	assert_int_equal(sums_header(&estimate)->rows, 100);
	assert_rates(&estimate);
	free(estimate.memory);
}

CASE("regions without a column count as outside")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	struct estimate_result result;
	struct interval interval;
	uint64_t seed = 8, beyond_ns = 0;
	double outside_s = 0;

	for (uint32_t i = 0; i < 100; i++) {
		interval_fill(&interval, 1000000, &seed);
		interval.shares[3].region = i % 2 ? 64 : UINT32_MAX;
		beyond_ns += interval.shares[3].time_ns;
		outside_s += (double)interval.row.outside_ns / 1e9;
		assert_int_equal(estimate_add(&estimate, &interval.row), 0);
	}
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), 0);
	outside_s += (double)beyond_ns / 1e9;
	assert_true(fabs(result.values[ESTIMATE_OUTSIDE].time_s - outside_s) < 1e-9);
	free(estimate.memory);
}

CASE("all 64 regions have a column")
{
	static struct estimate_share shares[ESTIMATE_REGIONS_MAX];
	struct estimate estimate = estimate_empty(1, 1);
	struct estimate_result result;
	uint64_t seed = 9;

	for (uint32_t n = 0; n < 4000; n++) {
		double bytes = 0;
		struct estimate_row row = { .dt_ns = 1000000,
			.shares = shares,
			.n_shares = ESTIMATE_REGIONS_MAX,
			.n_threads = 64,
			.bytes = &bytes };

		for (uint32_t i = 0; i < ESTIMATE_REGIONS_MAX; i++) {
			shares[i] = (struct estimate_share){ i, chance_next(&seed) % 1000000 };
			bytes += (double)((1 + i % 5) * shares[i].time_ns);
		}
		assert_int_equal(estimate_add(&estimate, &row), 0);
	}
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), 0);
	for (uint32_t i = 0; i < ESTIMATE_REGIONS_MAX; i++)
		assert_true(fabs(result.values[i].rate - (1 + i % 5) * 1e9) < 1e4);
	free(estimate.memory);
}

/* --- a writer that died --- */

CASE("the block of a dead writer is lost")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	struct sums_header *header = sums_header(&estimate);
	struct estimate_result result;
	uint64_t seed = 10;

	add_many(&estimate, 200, 1000000, &seed);
	header->busy = 1 + header->current;
	sums_block(&estimate, header->current)->gram[3] *= 2;
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), 0);
	assert_int_equal(result.n_spoilt, 1);
	add_many(&estimate, 200, 1000000, &seed);
	assert_in_range(sums_header(&estimate)->lost, 2, 40);
	assert_rates(&estimate);
	free(estimate.memory);
}

CASE("a writer that died merging leaves nothing")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	struct estimate_result result;
	uint64_t seed = 11;

	add_many(&estimate, 200, 1000000, &seed);
	sums_header(&estimate)->busy = SUMS_MERGING;
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), -EAGAIN);
	add_many(&estimate, 100, 1000000, &seed);
	assert_int_equal(sums_header(&estimate)->lost, 200);
	assert_int_equal(estimate_solve(&estimate, 0, 0, &result), 0);
	assert_true(result.rows == 100);
	assert_rates(&estimate);
	free(estimate.memory);
}

/* --- memory that holds anything --- */

static void use_corrupt(const struct estimate *estimate, uint64_t *seed)
{
	struct estimate_result result;
	struct interval interval;

	for (uint32_t i = 0; i < N_SERIES; i++)
		estimate_solve(estimate, i / N_METRICS, i % N_METRICS, &result);
	for (uint32_t i = 0; i < 20; i++) {
		interval_fill(&interval, UINT64_C(1) << (i + 12), seed);
		estimate_add(estimate, &interval.row);
	}
	estimate_solve(estimate, 0, 0, &result);
}

CASE("random memory crashes nothing")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	size_t n = estimate_bytes(SOCKETS, N_METRICS) / sizeof(uint64_t);
	uint64_t seed = 12, *words = estimate.memory;

	for (uint32_t round = 0; round < 60; round++) {
		for (size_t i = 0; i < n; i++)
			words[i] = chance_next(&seed);
		/* the first words are checked first: let some rounds get further */
		if (round % 3)
			memset(words, 0, sizeof(struct sums_header));
		if (round % 3 == 2)
			for (size_t i = 0; i < n; i++) /* numbers of ordinary size */
				((double *)words)[i] = chance_even(&seed) * 1000;
		if (round % 3 == 2)
			memset(words, 0, sizeof(struct sums_header));
		use_corrupt(&estimate, &seed);
	}
	free(estimate.memory);
}

CASE("changed words crash nothing")
{
	struct estimate estimate = estimate_empty(SOCKETS, N_METRICS);
	size_t n = estimate_bytes(SOCKETS, N_METRICS) / sizeof(uint64_t);
	uint64_t seed = 13, *words = estimate.memory, *saved = malloc(n * sizeof *saved);

	assert_non_null(saved);
	add_many(&estimate, 300, 1000000, &seed);
	memcpy(saved, words, n * sizeof *saved);
	for (uint32_t round = 0; round < 200; round++) {
		size_t among = round % 2 ? n : sizeof(struct sums_header) / sizeof(uint64_t);

		memcpy(words, saved, n * sizeof *saved);
		for (uint32_t i = 0; i < 1 + round % 5; i++)
			words[chance_next(&seed) % among] = chance_next(&seed);
		use_corrupt(&estimate, &seed);
	}
	free(saved);
	free(estimate.memory);
}
