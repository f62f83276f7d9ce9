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

enum { READINGS_MAX = 4 };

/* Readings of one socket, during which other regions were open or not. */
struct readings {
	struct readout readouts[READINGS_MAX];
	struct sums_reading at[READINGS_MAX];
};

static void readings_make(struct uncore_sample *samples, size_t n, struct readings *ret)
{
	for (size_t i = 0; i < n; i++) {
		ret->readouts[i] = (struct readout){ .samples = &samples[i], .n_sockets = 1 };
		ret->at[i] = (struct sums_reading){ .readout = &ret->readouts[i],
			.others_before = ALONE_NOT,
			.state = { .n_stretches = 1, .is_open = true } };
	}
}

CASE("readings on the way change no sum")
{
	static struct table_record record;
	struct uncore_sample samples[] = { sample_of(1, 100, 0), sample_of(2, 150, 0),
		sample_of(2, 150, 0), sample_of(3, 300, 0) };
	struct readings readings;

	memset(&record, 0, sizeof record);
	readings_make(samples, ARRAY_SIZE(samples), &readings);
	sums_open(&record, &readings.at[0]);
	assert_int_equal(sums_add(&record, &readings.at[1]), 0);
	assert_int_equal(sums_add(&record, &readings.at[2]), 0); /* not later */
	assert_int_equal(sums_close(&record, &readings.at[3]), 0);
	assert_int_equal(record.sockets[0].sums[0].count, 200);
	assert_int_equal(record.sockets[0].window_ns, 2000);
	assert_int_equal(record.sockets[0].sums[0].quality, 0);
	assert_int_equal(record.lost_ns, 0);
}

/* The counters of a package were gone, and are counted anew since. */
CASE("a value that is missing on the way is known at the end")
{
	static struct table_record record;
	struct uncore_sample samples[] = { sample_of(1, 100, 0), sample_of(3, 0, UNCORE_ABSENT),
		sample_of(5, 300, 0) };
	struct readings readings;

	memset(&record, 0, sizeof record);
	readings_make(samples, ARRAY_SIZE(samples), &readings);
	samples[2].values[0].raised[RESET_FLAG] = 2;
	sums_open(&record, &readings.at[0]);
	assert_int_equal(sums_add(&record, &readings.at[1]), 0);
	assert_int_equal(sums_close(&record, &readings.at[2]), 0);
	assert_int_equal(record.sockets[0].sums[0].count, 200);
	assert_int_equal(record.sockets[0].sums[0].quality, UNCORE_RESET);
	assert_int_equal(record.sockets[0].window_ns, 4000);
}

CASE("a value that is missing at the end is absent")
{
	static struct table_record record;
	struct uncore_sample samples[] = { sample_of(1, 100, 0), sample_of(3, 0, UNCORE_ABSENT) };
	struct readings readings;

	memset(&record, 0, sizeof record);
	readings_make(samples, ARRAY_SIZE(samples), &readings);
	sums_open(&record, &readings.at[0]);
	assert_int_equal(sums_close(&record, &readings.at[1]), 0);
	assert_true(record.sockets[0].sums[0].quality & UNCORE_ABSENT);
}

/* Nobody else was in a region before the second reading, and somebody came into one after the
 * third. */
CASE("bytes of a region alone")
{
	static struct table_record record;
	struct uncore_sample samples[] = { sample_of(1, 100, 0), sample_of(2, 150, 0),
		sample_of(3, 170, 0), sample_of(4, 300, 0) };
	struct readings readings;

	memset(&record, 0, sizeof record);
	readings_make(samples, ARRAY_SIZE(samples), &readings);
	for (int i = 1; i < 4; i++)
		readings.at[i].sole_before = readings.at[i].sole_after = readings.at[i].region;
	readings.at[1].others_before = readings.at[2].others_before = 7;
	readings.at[2].others_after = 7;
	readings.at[3].others_after = 8;
	sums_open(&record, &readings.at[0]);
	assert_int_equal(sums_add(&record, &readings.at[1]), 0);
	assert_int_equal(sums_add(&record, &readings.at[2]), 0);
	assert_int_equal(sums_close(&record, &readings.at[3]), 0);
	assert_int_equal(record.sockets[0].sums[0].count, 200);
	assert_int_equal(record.sockets[0].alone[0], 20);
	assert_int_equal(record.sockets[0].alone_ns, 1000);
}
