/* SPDX-License-Identifier: BSD-3-Clause */
/* Readings of a socket, and what a region's record makes of them. */
#include "client/region/sums.h"

#include <string.h>

#include "tests/harness/test.h"

enum { RESET_FLAG = 3 }; /* UNCORE_RESET is 1 << 3 */

static struct uncore_sample sample_of(uint64_t sweep, uint64_t count, uint32_t quality)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	sample.sweep = sweep;
	sample.begin_ns = sweep * 1000;
	sample.end_ns = sweep * 1000 + 10;
	sample.n_values = 1;
	sample.values[0].count = count;
	sample.values[0].quality = quality;
	return sample;
}

static struct reading reading_of(struct uncore_sample *sample)
{
	return (struct reading){ .readout = { .samples = sample, .n_sockets = 1 },
		.is_taken = true };
}

static void readings_on_the_way_change_no_sum(void **state)
{
	static struct table_record record;
	struct uncore_sample samples[] = { sample_of(1, 100, 0), sample_of(2, 150, 0),
		sample_of(2, 150, 0), sample_of(3, 300, 0) };
	struct reading readings[] = { reading_of(&samples[0]), reading_of(&samples[1]),
		reading_of(&samples[2]), reading_of(&samples[3]) };

	memset(&record, 0, sizeof record);
	sums_open(&record, &readings[0]);
	assert_int_equal(sums_add(&record, &readings[1], true), 0);
	assert_int_equal(sums_add(&record, &readings[2], true), 0); /* not later */
	assert_int_equal(sums_close(&record, &readings[3], false), 0);
	assert_int_equal(record.sockets[0].sums[0].count, 200);
	assert_int_equal(record.sockets[0].shared[0], 50);
	assert_int_equal(record.sockets[0].window_ns, 2000);
	assert_int_equal(record.sockets[0].sums[0].quality, 0);
	assert_int_equal(record.lost_ns, 0);
}

/* The counters of a package were gone, and are counted anew since. */
static void a_value_that_is_missing_on_the_way_is_known_at_the_end(void **state)
{
	static struct table_record record;
	struct uncore_sample samples[] = { sample_of(1, 100, 0), sample_of(3, 0, UNCORE_ABSENT),
		sample_of(5, 300, 0) };
	struct reading readings[] = { reading_of(&samples[0]), reading_of(&samples[1]),
		reading_of(&samples[2]) };

	memset(&record, 0, sizeof record);
	samples[2].values[0].raised[RESET_FLAG] = 2;
	sums_open(&record, &readings[0]);
	assert_int_equal(sums_add(&record, &readings[1], false), 0);
	assert_int_equal(sums_close(&record, &readings[2], false), 0);
	assert_int_equal(record.sockets[0].sums[0].count, 200);
	assert_int_equal(record.sockets[0].sums[0].quality, UNCORE_RESET);
	assert_int_equal(record.sockets[0].window_ns, 4000);
}

static void a_value_that_is_missing_at_the_end_is_absent(void **state)
{
	static struct table_record record;
	struct uncore_sample samples[] = { sample_of(1, 100, 0), sample_of(3, 0, UNCORE_ABSENT) };
	struct reading readings[] = { reading_of(&samples[0]), reading_of(&samples[1]) };

	memset(&record, 0, sizeof record);
	sums_open(&record, &readings[0]);
	assert_int_equal(sums_close(&record, &readings[1], false), 0);
	assert_true(record.sockets[0].sums[0].quality & UNCORE_ABSENT);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(readings_on_the_way_change_no_sum),
		cmocka_unit_test(a_value_that_is_missing_on_the_way_is_known_at_the_end),
		cmocka_unit_test(a_value_that_is_missing_at_the_end_is_absent),
	};

	return cmocka_run_group_tests_name("sums", cases, NULL, NULL);
}
