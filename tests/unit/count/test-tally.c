/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums worked out by hand: boxes in known states, values and flags that must follow. */
#include "daemon/count/tally.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <string.h>

enum { DRAM_READ, DRAM_WRITE, HBM_READ, ITOM, N_METRICS };

/* Two memory channels; HBM is a difference of two kinds of boxes; itom was never there. */
static struct platform platform = {
	.n_metrics = N_METRICS,
	.metrics = { { .name = "dram.read", .unit = "bytes", .n_terms = 1 },
		{ .name = "dram.write", .unit = "nJ", .n_terms = 1 },
		{ .name = "hbm.read", .unit = "bytes", .n_terms = 2 },
		{ .name = "itom", .absent = "no such event" } },
};

static const struct plan_box channel_boxes[] = {
	{ .pmu = "uncore_imc_0",
		.n_events = 2,
		.n_uses = 2,
		.uses = { { .event = 0, .metric = DRAM_READ, .scale = { 64, 1 }, .channel = 0 },
			{ .event = 1, .metric = DRAM_WRITE, .scale = { 64, 1 }, .channel = 1 } } },
	{ .pmu = "uncore_imc_1",
		.n_events = 2,
		.n_uses = 2,
		.uses = { { .event = 0, .metric = DRAM_READ, .scale = { 64, 1 }, .channel = 2 },
			{ .event = 1, .metric = DRAM_WRITE, .scale = { 64, 1 }, .channel = 3 } } },
	{ .pmu = "uncore_edc_eclk_0",
		.n_events = 1,
		.n_uses = 1,
		.uses = { { .event = 0,
			.metric = HBM_READ,
			.term = 0,
			.scale = { 64, 1 },
			.channel = PLAN_NO_CHANNEL } } },
	{ .pmu = "uncore_edc_uclk_0",
		.n_events = 1,
		.n_uses = 1,
		.uses = { { .event = 0,
			.metric = HBM_READ,
			.term = 1,
			.subtract = true,
			.scale = { 64, 1 },
			.channel = PLAN_NO_CHANNEL } } },
};

enum { N_BOXES = 4 };

struct fixture {
	struct plan_socket socket;
	struct page_channel channels[4];
	struct plan_box plan_boxes[N_BOXES];
	struct plan plan;
	struct box boxes[N_BOXES];
	struct tally tally;
};

static void set_up(struct fixture *f)
{
	const uint32_t whys[PAGE_METRICS_MAX] = { [ITOM] = 7 };

	memset(f, 0, sizeof *f);
	memcpy(f->plan_boxes, channel_boxes, sizeof channel_boxes);
	f->socket.n_boxes = N_BOXES;
	f->socket.n_channels = 4;
	f->socket.quality[ITOM] = PAGE_ABSENT;
	for (unsigned c = 0; c < 4; c++)
		f->channels[c].metric = c % 2 ? DRAM_WRITE : DRAM_READ;
	f->plan = (struct plan){ .platform = &platform,
		.n_sockets = 1,
		.n_boxes = N_BOXES,
		.n_channels = 4,
		.sockets = &f->socket,
		.boxes = f->plan_boxes,
		.channels = f->channels };
	for (int i = 0; i < N_BOXES; i++)
		f->boxes[i].plan = &f->plan_boxes[i];
	assert_int_equal(tally_init(&f->tally, &f->plan, 0, whys), 0);
}

static const struct page_value *sum(struct fixture *f, unsigned metric)
{
	f->tally.sweep.number++;
	tally_sum(&f->tally, f->boxes, N_BOXES);
	return &f->tally.sweep.values[metric];
}

static struct fixture f;

static int begin(void **state)
{
	set_up(&f);
	return remember_descriptors(state);
}

static int end(void **state)
{
	tally_done(&f.tally);
	return compare_descriptors(state);
}

#define TALLY_CASE(sentence) CASE_WITHIN(sentence, begin, end)

TALLY_CASE("counts are added over boxes and multiplied by bytes")
{
	f.boxes[0].events[0].count = 10;
	f.boxes[1].events[0].count = 5;
	f.boxes[1].events[1].count = 2;
	assert_int_equal(sum(&f, DRAM_READ)->count, 15 * 64);
	assert_int_equal(f.tally.sweep.values[DRAM_WRITE].count, 2 * 64);
	assert_int_equal(f.tally.sweep.values[DRAM_READ].quality, 0);
	assert_int_equal(f.tally.channels[0].count, 640);
	assert_int_equal(f.tally.channels[2].count, 320);
	assert_int_equal(f.tally.channels[3].count, 128);
}

TALLY_CASE("an absent metric has a reason")
{
	const struct page_value *value;

	value = sum(&f, ITOM);
	assert_int_equal(value->quality, PAGE_ABSENT);
	assert_int_equal(value->why, 7);
}

TALLY_CASE("one unreadable box makes a metric partial")
{
	const struct page_value *value;

	f.boxes[0].events[0].count = 10;
	f.boxes[1].error = -EIO;
	f.boxes[1].quality = PAGE_PARTIAL;
	value = sum(&f, DRAM_READ);
	assert_int_equal(value->quality, PAGE_PARTIAL);
	assert_int_equal(value->count, 640);
	assert_int_equal(value->raised[1], 1);
	assert_true(f.tally.channels[2].quality & PAGE_ABSENT);
	assert_int_equal(f.tally.channels[2].why, TALLY_TEXT_UNREADABLE);
	/* The box is readable again: the flag goes, the record that it was raised stays. */
	f.boxes[1].error = 0;
	f.boxes[1].quality = 0;
	value = sum(&f, DRAM_READ);
	assert_int_equal(value->quality, 0);
	assert_int_equal(value->raised[1], 1);
}

TALLY_CASE("no readable box makes a metric absent")
{
	const struct page_value *value;

	f.boxes[0].events[0].count = 10;
	sum(&f, DRAM_READ);
	f.boxes[0].error = f.boxes[1].error = -EIO;
	f.boxes[0].quality = f.boxes[1].quality = PAGE_PARTIAL;
	value = sum(&f, DRAM_READ);
	assert_true(value->quality & PAGE_ABSENT);
	assert_int_equal(value->why, TALLY_TEXT_UNREADABLE);
}

TALLY_CASE("a sum without one of its terms is absent")
{
	f.boxes[2].events[0].count = 100;
	f.boxes[3].events[0].count = 30;
	assert_int_equal(sum(&f, HBM_READ)->count, 70 * 64);
	f.boxes[3].error = -EIO;
	assert_true(sum(&f, HBM_READ)->quality & PAGE_ABSENT);
}

TALLY_CASE("a check is counted in the place of its metric")
{
	const struct page_value *value;

	f.tally.substituted_by[DRAM_READ] = 1 + DRAM_WRITE;
	f.boxes[0].events[0].count = 10;
	f.boxes[0].events[1].count = 3;
	f.boxes[0].quality = PAGE_FROZEN;
	value = sum(&f, DRAM_READ);
	assert_int_equal(value->count, 3 * 64);
	assert_int_equal(value->quality, PAGE_FROZEN);
	assert_int_equal(f.tally.sweep.values[DRAM_WRITE].count, 3 * 64);
}

TALLY_CASE("a difference of terms never goes back")
{
	const struct page_value *value;

	f.boxes[2].events[0].count = 100;
	f.boxes[3].events[0].count = 30;
	sum(&f, HBM_READ);
	f.boxes[3].events[0].count = 35;
	value = sum(&f, HBM_READ);
	assert_int_equal(value->count, 70 * 64);
	assert_int_equal(value->quality, PAGE_ESTIMATED);
	f.boxes[2].events[0].count = 110;
	value = sum(&f, HBM_READ);
	assert_int_equal(value->count, 75 * 64);
	assert_int_equal(value->quality, 0);
}

TALLY_CASE("an impossible difference is absent")
{
	const struct page_value *value;

	f.boxes[3].events[0].count = (2 << 20) / 64;
	value = sum(&f, HBM_READ);
	assert_true(value->quality & PAGE_ABSENT);
	assert_int_equal(value->why, TALLY_TEXT_CONTRADICTION);
}

TALLY_CASE("a channel is as good as its box")
{
	f.tally.quality[DRAM_READ] = PAGE_PARTIAL | PAGE_STANDIN;
	f.boxes[0].events[0].count = 10;
	f.boxes[1].error = -EIO;
	sum(&f, DRAM_READ);
	assert_int_equal(f.tally.channels[0].quality, PAGE_STANDIN);
	assert_int_equal(f.tally.channels[0].count, 640);
	assert_int_equal(f.tally.channels[2].quality, PAGE_STANDIN | PAGE_ABSENT);
}

TALLY_CASE("flags of the platform file are always raised")
{
	f.tally.quality[DRAM_READ] = PAGE_UNCALIBRATED | PAGE_STANDIN;
	f.boxes[0].quality = PAGE_RESET;
	assert_int_equal(
		sum(&f, DRAM_READ)->quality, PAGE_UNCALIBRATED | PAGE_STANDIN | PAGE_RESET);
	assert_int_equal(f.tally.sweep.values[DRAM_READ].raised[3], 1);
}

TALLY_CASE("values and channels in bytes are rounded down to the quantum")
{
	f.tally.quanta.bytes = 1000;
	f.boxes[0].events[0].count = 100;
	f.boxes[1].events[0].count = 10;
	assert_int_equal(sum(&f, DRAM_READ)->count, 7000);
	assert_int_equal(f.tally.channels[0].count, 6000);
	assert_int_equal(f.tally.channels[2].count, 0);
}

TALLY_CASE("a metric whose unit has no quantum is absent while there is one")
{
	const struct page_value *value;

	f.boxes[0].events[1].count = 10;
	f.boxes[1].events[1].count = 10;
	assert_int_equal(sum(&f, DRAM_WRITE)->count, 1280);
	f.tally.quanta.bytes = 2;
	f.boxes[0].events[1].count = 1000;
	f.boxes[1].quality = PAGE_RESET;
	value = sum(&f, DRAM_WRITE);
	assert_int_equal(value->count, 1280); /* what was told before */
	assert_true(value->quality & PAGE_ABSENT);
	assert_int_equal(value->why, TALLY_TEXT_QUANTUM);
	assert_int_equal(f.tally.channels[1].count, 640);
	assert_true(f.tally.channels[1].quality & PAGE_ABSENT);
	assert_int_equal(f.tally.channels[1].why, TALLY_TEXT_QUANTUM);
	assert_false(f.tally.sweep.values[DRAM_READ].quality & PAGE_ABSENT);
	assert_false(f.tally.channels[0].quality & PAGE_ABSENT);
	/* The totals went on meanwhile. A flag was raised in a sweep that showed no value. */
	f.tally.quanta.bytes = 1;
	f.boxes[1].quality = 0;
	value = sum(&f, DRAM_WRITE);
	assert_int_equal(value->count, 1010 * 64);
	assert_int_equal(value->quality, 0);
	assert_int_equal(value->raised[3], 2);
	assert_int_equal(f.tally.channels[1].count, 64000);
}

TALLY_CASE("energy is rounded down to a quantum of its own, and absent where only bytes have one")
{
	const struct page_value *value;

	f.tally.rounding[DRAM_WRITE] = UNIT_QUANTUM_ENERGY;
	f.boxes[0].events[1].count = 20;
	f.tally.quanta.bytes = 1000;
	value = sum(&f, DRAM_WRITE);
	assert_int_equal(value->count, 0);
	assert_true(value->quality & PAGE_ABSENT);
	assert_true(f.tally.channels[1].quality & PAGE_ABSENT);
	f.tally.quanta.energy = 500;
	value = sum(&f, DRAM_WRITE);
	assert_int_equal(value->count, 1000);
	assert_false(value->quality & PAGE_ABSENT);
	assert_int_equal(f.tally.channels[1].count, 1000);
	/* The quantum of energy says nothing of bytes. */
	f.tally.quanta.bytes = 1;
	f.boxes[0].events[0].count = 1;
	assert_int_equal(sum(&f, DRAM_READ)->count, 64);
	assert_int_equal(f.tally.sweep.values[DRAM_WRITE].count, 1000);
}

/* A fraction is applied to the total of an event, so what is lost never reaches 1. */
TALLY_CASE("the part that a fraction leaves out never reaches 1")
{
	f.plan_boxes[0].uses[0].scale = (struct scale){ 64, 9 };
	for (uint64_t i = 1; i <= 10000; i++) {
		uint64_t told;

		f.boxes[0].events[0].count++;
		told = sum(&f, DRAM_READ)->count;
		assert_true(told <= i * 64 / 9 && told + 1 > i * 64 / 9);
		assert_int_equal(f.tally.channels[0].count, told);
	}
	/* 10^9 / 2^32 of a count that 64 bits hold and the product does not. */
	f.plan_boxes[0].uses[0].scale = (struct scale){ 1953125, 8388608 };
	f.boxes[0].events[0].count = UINT64_C(1) << 62;
	assert_int_equal(sum(&f, DRAM_READ)->count, (UINT64_C(1) << 39) * 1953125);
}

TALLY_CASE("the part that rounding leaves out never reaches a quantum")
{
	uint64_t bytes = 0;

	f.tally.quanta.bytes = 4096;
	for (unsigned i = 0; i < 10000; i++) {
		uint64_t told;

		f.boxes[0].events[0].count += i % 130;
		bytes += i % 130 * 64;
		told = sum(&f, DRAM_READ)->count;
		assert_true(told <= bytes && bytes - told < 4096);
		assert_int_equal(f.tally.sweep.values[DRAM_READ].quality, 0);
	}
}

TALLY_CASE("a quantum that changes makes nothing go back")
{
	static const uint32_t quanta[] = { 1, 1 << 20, 1000, 1, 4096 };
	uint64_t last = 0, last_of_channel = 0;

	f.boxes[0].events[0].count = 12345;
	for (unsigned i = 0; i < sizeof quanta / sizeof *quanta; i++) {
		f.boxes[0].events[0].count += 1;
		f.tally.quanta.bytes = quanta[i];
		assert_true(sum(&f, DRAM_READ)->count >= last);
		assert_true(f.tally.channels[0].count >= last_of_channel);
		last = f.tally.sweep.values[DRAM_READ].count;
		last_of_channel = f.tally.channels[0].count;
	}
	assert_int_equal(last, 12349 * 64); /* exact in between, and not rounded since */
	assert_int_equal(last_of_channel, last);
}

TALLY_CASE("channels go on from what the page shows")
{
	const struct page_channel_value shown[4] = { { .count = 5120 }, {}, { .count = 64 }, {} };

	tally_resume(&f.tally, &f.tally.sweep, shown);
	f.tally.quanta.bytes = 4096; /* coarser than the quantum of the process before */
	f.boxes[0].events[0].count = 81;
	f.boxes[1].events[0].count = 65;
	sum(&f, DRAM_READ);
	assert_int_equal(f.tally.channels[0].count, 5120);
	assert_int_equal(f.tally.channels[2].count, 4096);
}

TALLY_CASE("boxes the kernel refused are told in words")
{
	f.boxes[1].error = -ENODEV;
	f.boxes[3].error = -EACCES;
	tally_note_refusals(&f.plan, f.boxes);
	assert_int_equal(f.socket.quality[DRAM_READ], PAGE_PARTIAL);
	assert_string_equal(f.socket.why[DRAM_READ],
		"the kernel refused to open 1 of 2 boxes, the first uncore_imc_1 on CPU 0: No such "
		"device");
	assert_int_equal(f.socket.quality[HBM_READ], PAGE_ABSENT);
	assert_non_null(strstr(f.socket.why[HBM_READ], "Permission denied"));
}
