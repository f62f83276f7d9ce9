/* SPDX-License-Identifier: BSD-3-Clause */
/* One box against a kernel that fails, multiplexes, freezes and counts backwards. */
#include "daemon/count/box.h"
#include "tests/harness/test.h"
#include "tests/unit/count/perf-fake.h"

enum { READ = 0x304, WRITE = 0xc04, CLOCK = 0xff };

static const uint64_t SECOND = 1000000000;

static const struct plan_box two_events = {
	.pmu = "uncore_imc_0",
	.n_events = 2,
	.events = { { .code.config = READ }, { .code.config = WRITE } },
};

static const struct plan_box with_clock = {
	.pmu = "nest_mba0_imc",
	.n_events = 2,
	.events = { { .code.config = READ },
		{ .code.config = CLOCK, .is_clock = true, .clock_ms = 20 } },
};

static void opens_one_pinned_group(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	assert_int_equal(box.mode, BOX_PINNED);
	assert_true(kernel.events[0].pinned);
	assert_int_equal(kernel.events[1].group_fd, 0);
	assert_false(kernel.events[1].pinned);
	box_close(&box);
	assert_int_equal(fake_open_events(&kernel), 0);
}

static void counts_from_the_moment_it_opened(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_find(&kernel, READ)->value = 1000;
	fake_find(&kernel, WRITE)->value = 7;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, SECOND);
	assert_int_equal(box.events[0].count, 1000);
	assert_int_equal(box.events[1].count, 7);
	assert_int_equal(box.quality, 0);
	assert_int_equal(box.error, 0);
	box_close(&box);
}

static void says_why_the_kernel_refused(void **state)
{
	static const int errors[] = { -EACCES, -ENODEV, -EINVAL, -EMFILE, -ENOENT };

	(void)state;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		struct fake_kernel kernel = { .open_error = errors[i] };
		struct perf perf = fake_perf(&kernel);
		struct box box = {};

		assert_int_equal(box_open(&box, &two_events, &perf), errors[i]);
		assert_int_equal(box.mode, BOX_CLOSED);
		assert_int_equal(box.quality, PAGE_PARTIAL);
		box_read(&box, SECOND);
		assert_int_equal(box.error, errors[i]);
		assert_int_equal(fake_open_events(&kernel), 0);
	}
}

static void falls_back_to_single_events_when_a_group_is_too_large(void **state)
{
	struct fake_kernel kernel = { .sibling_error = -EINVAL };
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	assert_int_equal(box.mode, BOX_SINGLES);
	assert_int_equal(fake_open_events(&kernel), 2);
	fake_find(&kernel, WRITE)->value = 5;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, SECOND);
	assert_int_equal(box.events[0].count, 0);
	assert_int_equal(box.events[1].count, 5);
	box_close(&box);
}

static void opens_flexible_when_others_hold_the_counters(void **state)
{
	struct fake_kernel kernel = { .pinned_fails = true };
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	assert_int_equal(box.mode, BOX_FLEXIBLE);
	assert_int_equal(fake_open_events(&kernel), 2);
	box_close(&box);
}

/* As AMD's driver does: it takes a group that can never be on the PMU. */
static void opens_single_events_where_a_group_never_runs(void **state)
{
	struct fake_kernel kernel = { .pinned_fails = true };
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	assert_int_equal(box.mode, BOX_FLEXIBLE);
	fake_pass(&kernel, SECOND, 0);
	box_read(&box, SECOND);
	assert_int_equal(box.error, -ENODATA);
	assert_int_equal(box_settle(&box), 1);
	assert_int_equal(box.mode, BOX_SINGLES);
	assert_int_equal(fake_open_events(&kernel), 2);
	fake_pass(&kernel, SECOND, SECOND);
	fake_find(&kernel, WRITE)->value = 5;
	box_read(&box, 2 * SECOND);
	assert_int_equal(box.error, 0);
	box_close(&box);
}

static void leaves_a_group_that_runs_alone(void **state)
{
	struct fake_kernel kernel = { .pinned_fails = true };
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_pass(&kernel, SECOND, 1);
	assert_int_equal(box_settle(&box), 0);
	assert_int_equal(box.mode, BOX_FLEXIBLE);
	box_close(&box);
}

static void notices_a_pinned_group_that_lost_its_counters(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_find(&kernel, READ)->value = 100;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, SECOND);
	kernel.pinned_fails = true;
	fake_find(&kernel, READ)->value = 111;
	box_read(&box, 2 * SECOND);
	assert_int_equal(box.error, -EBUSY);
	assert_int_equal(box.quality, PAGE_PARTIAL);
	assert_int_equal(box.events[0].count, 100);
	assert_int_equal(kernel.n_enabled, 1);
	/* It has its counters again. */
	kernel.pinned_fails = false;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, 3 * SECOND);
	assert_int_equal(box.error, 0);
	assert_int_equal(box.events[0].count, 111);
	assert_int_equal(box.quality, 0);
	box_close(&box);
}

static void scales_what_was_multiplexed_and_says_so(void **state)
{
	struct fake_kernel kernel = { .pinned_fails = true };
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_find(&kernel, READ)->value = 250;
	fake_pass(&kernel, SECOND, SECOND / 4);
	box_read(&box, SECOND);
	assert_int_equal(box.events[0].count, 1000);
	assert_int_equal(box.quality, PAGE_ESTIMATED);
	/* The events were not once on the PMU: nothing is known yet ... */
	fake_pass(&kernel, SECOND, 0);
	box_read(&box, 2 * SECOND);
	assert_int_equal(box.events[0].count, 1000);
	assert_int_equal(box.quality, PAGE_ESTIMATED);
	/* ... and the next read scales for both seconds: 100 counts in half of two seconds. */
	fake_find(&kernel, READ)->value = 350;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, 3 * SECOND);
	assert_int_equal(box.events[0].count, 1200);
	/* Alone again: exact again. */
	fake_find(&kernel, READ)->value = 360;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, 4 * SECOND);
	assert_int_equal(box.events[0].count, 1210);
	assert_int_equal(box.quality, 0);
	box_close(&box);
}

static void never_counts_backwards(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_find(&kernel, READ)->value = 500;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, SECOND);
	fake_find(&kernel, READ)->value = 3;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, 2 * SECOND);
	assert_int_equal(box.events[0].count, 500);
	assert_int_equal(box.quality, PAGE_RESET);
	fake_find(&kernel, READ)->value = 10;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, 3 * SECOND);
	assert_int_equal(box.events[0].count, 507);
	assert_int_equal(box.quality, 0);
	box_close(&box);
}

static void keeps_its_counts_while_reads_fail(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_find(&kernel, READ)->value = 40;
	kernel.read_error = -EIO;
	box_read(&box, SECOND);
	assert_int_equal(box.error, -EIO);
	assert_int_equal(box.quality, PAGE_PARTIAL);
	assert_int_equal(box.events[0].count, 0);
	kernel.read_error = 0;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, 2 * SECOND);
	assert_int_equal(box.error, 0);
	assert_int_equal(box.events[0].count, 40);
	box_close(&box);
}

static void notices_a_group_that_fell_apart(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	kernel.group_shrinks = true;
	box_read(&box, SECOND);
	assert_int_equal(box.error, -ENODEV);
	assert_int_equal(box.quality, PAGE_PARTIAL);
	box_close(&box);
}

static void notices_that_enabled_time_stands_still(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, SECOND);
	assert_int_equal(box.quality, 0);
	box_read(&box, 2 * SECOND);
	assert_int_equal(box.quality, PAGE_FROZEN);
	box_close(&box);
}

static void notices_that_the_clock_of_a_box_stands_still(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};
	const uint64_t ms = 1000000;

	(void)state;
	assert_int_equal(box_open(&box, &with_clock, &perf), 0);
	fake_find(&kernel, CLOCK)->value = 5000;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, 1000 * ms);
	assert_int_equal(box.quality, 0);
	/* Posted every few ms: standing still for less than clock_ms proves nothing. */
	fake_pass(&kernel, 19 * ms, 19 * ms);
	box_read(&box, 1019 * ms);
	assert_int_equal(box.quality, 0);
	fake_pass(&kernel, 1 * ms, 1 * ms);
	box_read(&box, 1020 * ms);
	assert_int_equal(box.quality, PAGE_FROZEN);
	fake_find(&kernel, CLOCK)->value = 5001;
	fake_pass(&kernel, 1 * ms, 1 * ms);
	box_read(&box, 1021 * ms);
	assert_int_equal(box.quality, 0);
	box_close(&box);
}

/*
 * A source had counted before it was opened, and was zeroed since. So the kernel shows a count
 * below its beginning.
 */
static void a_count_below_its_beginning_is_a_reset(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_find(&kernel, READ)->value = (uint64_t)-1000;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, SECOND);
	assert_int_equal(box.events[0].count, 0);
	assert_int_equal(box.quality, PAGE_RESET);
	fake_find(&kernel, READ)->value = (uint64_t)-900;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, 2 * SECOND);
	assert_int_equal(box.events[0].count, 100);
	assert_int_equal(box.quality, 0);
	box_close(&box);
}

/* Its leader ran while it was alone, and since its sibling came the group does not fit. */
static void opens_single_events_where_only_the_leader_ran(void **state)
{
	struct fake_kernel kernel = {
		.pinned_fails = true, .enabled_ns = 1000, .running_ns = 1000
	};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	assert_int_equal(box.mode, BOX_FLEXIBLE);
	fake_pass(&kernel, SECOND, 0);
	assert_int_equal(box_settle(&box), 1);
	assert_int_equal(box.mode, BOX_SINGLES);
	box_close(&box);
}

/* --- from one process to the next --- */

/* The box of the next process: it has only the members that outlive this process. */
static struct box inherit(const struct box *box)
{
	struct box next = { .mode = box->mode, .error = box->error, .read_ns = box->read_ns };

	memcpy(next.events, box->events, sizeof next.events);
	return next;
}

static void goes_on_counting_after_it_was_handed_over(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {}, next;

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_find(&kernel, READ)->value = 10;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, SECOND);
	fake_find(&kernel, READ)->value = 30; /* while nobody runs */
	fake_pass(&kernel, SECOND, SECOND);
	next = inherit(&box);
	assert_int_equal(box_adopt(&next, &two_events, &perf, box.fds, 2 * SECOND), 0);
	box_read(&next, 2 * SECOND);
	assert_int_equal(next.events[0].count, 30);
	assert_int_equal(next.quality, 0);
	box_close(&next);
	assert_int_equal(fake_open_events(&kernel), 0);
}

/* Half of the time on the PMU, before and after. */
static void goes_on_estimating_after_it_was_handed_over(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {}, next;

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_find(&kernel, READ)->value = 10;
	fake_pass(&kernel, SECOND, SECOND / 2);
	box_read(&box, SECOND);
	fake_find(&kernel, READ)->value = 15;
	fake_pass(&kernel, SECOND, SECOND / 4);
	next = inherit(&box);
	assert_int_equal(box_adopt(&next, &two_events, &perf, box.fds, 2 * SECOND), 0);
	box_read(&next, 2 * SECOND);
	assert_int_equal(next.events[0].count, 20 + 20);
	assert_int_equal(next.quality, PAGE_ESTIMATED);
	box_close(&next);
}

/* Hands over, and expects that the box is refused and opened anew with its counts. */
static void assert_opened_anew(struct fake_kernel *kernel, struct box *box, uint64_t now_ns)
{
	struct box next = inherit(box);

	assert_int_equal(box_adopt(&next, &two_events, box->perf, box->fds, now_ns), -ESTALE);
	assert_int_equal(fake_open_events(kernel), 0);
	kernel->group_shrinks = false;
	assert_int_equal(box_reopen(&next, &two_events, box->perf), 0);
	fake_find(kernel, READ)->value = 5;
	fake_pass(kernel, SECOND, SECOND);
	box_read(&next, now_ns + SECOND);
	assert_int_equal(next.events[0].count, 15);
	assert_int_equal(next.quality, PAGE_RESET);
	fake_pass(kernel, SECOND, SECOND);
	box_read(&next, now_ns + 2 * SECOND);
	assert_int_equal(next.quality, 0);
	box_close(&next);
}

static void is_opened_anew_if_it_stood_still(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_find(&kernel, READ)->value = 10;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, SECOND);
	assert_opened_anew(&kernel, &box, 2 * SECOND);
}

static void is_opened_anew_if_its_group_fell_apart(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {};

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_find(&kernel, READ)->value = 10;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, SECOND);
	fake_pass(&kernel, SECOND, SECOND);
	kernel.group_shrinks = true;
	assert_opened_anew(&kernel, &box, 2 * SECOND);
}

/* There is no value until the box can be opened; then the loss is told. */
static void says_what_was_lost_once_it_is_open_again(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {}, next;

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	fake_find(&kernel, READ)->value = 10;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, SECOND);
	next = inherit(&box);
	box_close(&box);
	kernel.open_error = -ENODEV;
	assert_int_equal(box_reopen(&next, &two_events, &perf), -ENODEV);
	box_read(&next, 2 * SECOND);
	assert_int_equal(next.error, -ENODEV);
	assert_int_equal(next.quality, PAGE_PARTIAL);
	kernel.open_error = 0;
	assert_int_equal(box_reopen(&next, &two_events, &perf), 0);
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&next, 3 * SECOND);
	assert_int_equal(next.events[0].count, 10);
	assert_int_equal(next.quality, PAGE_RESET);
	box_close(&next);
}

/* The error of the last read must not be taken for the kernel's refusal to open the box. */
static void is_handed_over_without_the_error_of_its_last_read(void **state)
{
	struct fake_kernel kernel = {};
	struct perf perf = fake_perf(&kernel);
	struct box box = {}, next;

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	kernel.pinned_fails = true;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, SECOND);
	assert_int_equal(box.error, -EBUSY);
	next = inherit(&box);
	assert_int_equal(box_adopt(&next, &two_events, &perf, box.fds, 2 * SECOND), 0);
	assert_int_equal(next.error, 0);
	box_close(&next);
}

/* The box is opened anew, and is not on the PMU at first. */
static void says_what_was_lost_though_it_did_not_run_yet(void **state)
{
	struct fake_kernel kernel = { .sibling_error = -EINVAL };
	struct perf perf = fake_perf(&kernel);
	struct box box = {}, next;

	(void)state;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	next = inherit(&box);
	box_close(&box);
	assert_int_equal(box_reopen(&next, &two_events, &perf), 0);
	fake_pass(&kernel, SECOND, 0);
	kernel.running_ns = 0;
	box_read(&next, 2 * SECOND);
	assert_int_equal(next.error, -ENODATA);
	assert_true(next.quality & PAGE_RESET);
	assert_true(next.quality & PAGE_PARTIAL);
	box_close(&next);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("a box is one pinned group", opens_one_pinned_group),
		CASE("a box counts from the moment it opened", counts_from_the_moment_it_opened),
		CASE("a refused box stays closed and knows why", says_why_the_kernel_refused),
		CASE("a group that is too large becomes single events",
			falls_back_to_single_events_when_a_group_is_too_large),
		CASE("where another user holds the counters a box is flexible",
			opens_flexible_when_others_hold_the_counters),
		CASE("a group that never runs becomes single events",
			opens_single_events_where_a_group_never_runs),
		CASE("a group that runs now and then stays one", leaves_a_group_that_runs_alone),
		CASE("a pinned group that lost its counters is partial until it has them back",
			notices_a_pinned_group_that_lost_its_counters),
		CASE("multiplexed counts are scaled and called estimated",
			scales_what_was_multiplexed_and_says_so),
		CASE("a hardware count that goes back is flagged and adds nothing",
			never_counts_backwards),
		CASE("counts survive reads that fail", keeps_its_counts_while_reads_fail),
		CASE("a group that fell apart is an error", notices_a_group_that_fell_apart),
		CASE("enabled time that stands still means frozen",
			notices_that_enabled_time_stands_still),
		CASE("a box's clock that stands still means frozen",
			notices_that_the_clock_of_a_box_stands_still),
		CASE("a box goes on counting after it was handed over",
			goes_on_counting_after_it_was_handed_over),
		CASE("a box goes on estimating after it was handed over",
			goes_on_estimating_after_it_was_handed_over),
		CASE("a box that stood still is opened anew", is_opened_anew_if_it_stood_still),
		CASE("a box whose group fell apart is opened anew",
			is_opened_anew_if_its_group_fell_apart),
		CASE("a box tells its loss once it is open again",
			says_what_was_lost_once_it_is_open_again),
		CASE("a box is handed over without the error of its last read",
			is_handed_over_without_the_error_of_its_last_read),
		CASE("a box tells its loss though it did not run yet",
			says_what_was_lost_though_it_did_not_run_yet),
		CASE("a count below its beginning is a reset",
			a_count_below_its_beginning_is_a_reset),
		CASE("a group of which only the leader ran becomes single events",
			opens_single_events_where_only_the_leader_ran),
	};

	return cmocka_run_group_tests_name("box", cases, NULL, NULL);
}
