/* SPDX-License-Identifier: BSD-3-Clause */
/* One box against a kernel that fails, multiplexes, freezes and counts backwards. */
#include "common/macro.h"
#include "daemon/count/box.h"
#include "tests/harness/test.h"
#include "tests/unit/count/perf-fake.h"

enum { READ = 0x304, WRITE = 0xc04, CLOCK = 0xff, TURNS_MAX = 4 };

#define SECOND  UINT64_C(1000000000)
#define MS      UINT64_C(1000000)
#define HALF    (SECOND / 2)
#define QUARTER (SECOND / 4)

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

/* The kernel and the box of a case. */
static struct fake_kernel kernel;
static struct perf perf;
static struct box box;
static uint64_t now_ns;

static void open_box(struct fake_kernel options, enum box_mode mode)
{
	kernel = options;
	perf = fake_perf(&kernel);
	box = (struct box){};
	now_ns = 0;
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	assert_int_equal(box.mode, mode);
	assert_int_equal(fake_open_events(&kernel), 2);
}

/* --- read after read --- */

enum trouble { NONE, PINNED_FAILS, READ_FAILS, GROUP_SHRINKS, STANDS_STILL, NEVER_RUNS };

static void set_trouble(enum trouble trouble, bool on)
{
	if (trouble == PINNED_FAILS)
		kernel.pinned_fails = on;
	if (trouble == READ_FAILS)
		kernel.read_error = on ? -EIO : 0;
	if (trouble == GROUP_SHRINKS)
		kernel.group_shrinks = on;
}

/* What the kernel does for a second, and what a read of the box says then. */
struct turn {
	uint64_t read, write; /* where the counters of READ and WRITE stand */
	uint64_t running_ns;  /* of the second */
	enum trouble trouble;
	uint64_t counts[2];
	uint32_t quality;
	int error;
};

static void play(struct box *read, const struct turn *turn)
{
	uint64_t enabled_ns = turn->trouble == STANDS_STILL ? 0 : SECOND;

	fake_find(&kernel, READ)->value = turn->read;
	fake_find(&kernel, WRITE)->value = turn->write;
	fake_pass(&kernel, enabled_ns, turn->running_ns);
	now_ns += SECOND;
	set_trouble(turn->trouble, true);
	box_read(read, now_ns);
	set_trouble(turn->trouble, false);
	assert_int_equal(read->error, turn->error);
	assert_int_equal(read->quality, turn->quality);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(read->events[i].count, turn->counts[i]);
}

static void play_one(struct box *read, struct turn turn)
{
	play(read, &turn);
}

struct script {
	const char *sentence;
	struct fake_kernel kernel;
	enum box_mode mode;
	struct turn turns[TURNS_MAX]; /* those in use have a running_ns or a trouble */
};

static const struct script scripts[] = {
	{ "a box counts from the moment it opened", {}, BOX_PINNED,
		{ { 1000, 7, SECOND, .counts = { 1000, 7 } } } },
	{ "a group that is too large becomes single events", { .sibling_error = -EINVAL },
		BOX_SINGLES, { { 0, 5, SECOND, .counts = { 0, 5 } } } },
	{ "where another user holds the counters a box is flexible", { .pinned_fails = true },
		BOX_FLEXIBLE, {} },
	{ "a pinned group that lost its counters is partial until it has them back", {}, BOX_PINNED,
		{ { 100, 0, SECOND, .counts = { 100 } },
			{ 111, 0, SECOND, PINNED_FAILS, { 100 }, PAGE_PARTIAL, -EBUSY },
			{ 111, 0, SECOND, .counts = { 111 } } } },
	/* After a second without the PMU nothing is known; the next read scales for both. */
	{ "multiplexed counts are scaled and called estimated", { .pinned_fails = true },
		BOX_FLEXIBLE,
		{ { 250, 0, QUARTER, NONE, { 1000 }, PAGE_ESTIMATED },
			{ 250, 0, 0, NEVER_RUNS, { 1000 }, PAGE_ESTIMATED },
			{ 350, 0, SECOND, NONE, { 1200 }, PAGE_ESTIMATED },
			{ 360, 0, SECOND, .counts = { 1210 } } } },
	{ "a hardware count that goes back is flagged and adds nothing", {}, BOX_PINNED,
		{ { 500, 0, SECOND, .counts = { 500 } },
			{ 3, 0, SECOND, NONE, { 500 }, PAGE_RESET },
			{ 10, 0, SECOND, .counts = { 507 } } } },
	{ "counts survive reads that fail", {}, BOX_PINNED,
		{ { 40, 0, SECOND, READ_FAILS, { 0 }, PAGE_PARTIAL, -EIO },
			{ 40, 0, SECOND, .counts = { 40 } } } },
	{ "a group that fell apart is an error", {}, BOX_PINNED,
		{ { 0, 0, 0, GROUP_SHRINKS, { 0 }, PAGE_PARTIAL, -ENODEV } } },
	{ "enabled time that stands still means frozen", {}, BOX_PINNED,
		{ { 0, 0, SECOND }, { 0, 0, 0, STANDS_STILL, { 0 }, PAGE_FROZEN } } },
	/* A source had counted before it was opened, and was zeroed since. */
	{ "a count below its beginning is a reset", {}, BOX_PINNED,
		{ { (uint64_t)-1000, 0, SECOND, NONE, { 0 }, PAGE_RESET },
			{ (uint64_t)-900, 0, SECOND, .counts = { 100 } } } },
};

static void follow_script(void **state)
{
	const struct script *script = *state;

	open_box(script->kernel, script->mode);
	for (const struct turn *turn = script->turns; turn < script->turns + TURNS_MAX; turn++)
		if (turn->running_ns || turn->trouble)
			play(&box, turn);
	box_close(&box);
	assert_int_equal(fake_open_events(&kernel), 0);
}

/* --- opening --- */

static void opens_one_pinned_group(void **state)
{
	open_box((struct fake_kernel){}, BOX_PINNED);
	assert_true(kernel.events[0].pinned);
	assert_int_equal(kernel.events[1].group_fd, 0);
	assert_false(kernel.events[1].pinned);
	box_close(&box);
	assert_int_equal(fake_open_events(&kernel), 0);
}

static void says_why_the_kernel_refused(void **state)
{
	static const int errors[] = { -EACCES, -ENODEV, -EINVAL, -EMFILE, -ENOENT };

	perf = fake_perf(&kernel);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		kernel = (struct fake_kernel){ .open_error = errors[i] };
		box = (struct box){};
		assert_int_equal(box_open(&box, &two_events, &perf), errors[i]);
		assert_int_equal(box.mode, BOX_CLOSED);
		assert_int_equal(box.quality, PAGE_PARTIAL);
		box_read(&box, SECOND);
		assert_int_equal(box.error, errors[i]);
		assert_int_equal(fake_open_events(&kernel), 0);
	}
}

/* As AMD's driver does: it takes a group that can never be on the PMU. */
static void opens_single_events_where_a_group_never_runs(void **state)
{
	open_box((struct fake_kernel){ .pinned_fails = true }, BOX_FLEXIBLE);
	play_one(
		&box, (struct turn){ .quality = PAGE_PARTIAL | PAGE_ESTIMATED, .error = -ENODATA });
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
	open_box((struct fake_kernel){ .pinned_fails = true }, BOX_FLEXIBLE);
	fake_pass(&kernel, SECOND, 1);
	assert_int_equal(box_settle(&box), 0);
	assert_int_equal(box.mode, BOX_FLEXIBLE);
	box_close(&box);
}

/* Its leader ran while it was alone, and since its sibling came the group does not fit. */
static void opens_single_events_where_only_the_leader_ran(void **state)
{
	open_box(
		(struct fake_kernel){
			.pinned_fails = true, .enabled_ns = 1000, .running_ns = 1000 },
		BOX_FLEXIBLE);
	fake_pass(&kernel, SECOND, 0);
	assert_int_equal(box_settle(&box), 1);
	assert_int_equal(box.mode, BOX_SINGLES);
	box_close(&box);
}

static void is_enabled_again_when_it_lost_its_counters(void **state)
{
	open_box((struct fake_kernel){}, BOX_PINNED);
	play_one(&box, (struct turn){ 0, 0, SECOND, PINNED_FAILS, { 0 }, PAGE_PARTIAL, -EBUSY });
	assert_int_equal(kernel.n_enabled, 1);
	box_close(&box);
}

static void notices_that_the_clock_of_a_box_stands_still(void **state)
{
	kernel = (struct fake_kernel){};
	perf = fake_perf(&kernel);
	box = (struct box){};
	assert_int_equal(box_open(&box, &with_clock, &perf), 0);
	fake_find(&kernel, CLOCK)->value = 5000;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, 1000 * MS);
	assert_int_equal(box.quality, 0);
	/* Posted every few ms: standing still for less than clock_ms proves nothing. */
	fake_pass(&kernel, 19 * MS, 19 * MS);
	box_read(&box, 1019 * MS);
	assert_int_equal(box.quality, 0);
	fake_pass(&kernel, 1 * MS, 1 * MS);
	box_read(&box, 1020 * MS);
	assert_int_equal(box.quality, PAGE_FROZEN);
	fake_find(&kernel, CLOCK)->value = 5001;
	fake_pass(&kernel, 1 * MS, 1 * MS);
	box_read(&box, 1021 * MS);
	assert_int_equal(box.quality, 0);
	box_close(&box);
}

/* --- from one process to the next --- */

/* The box of the next process: it has only the members that outlive this process. */
static struct box inherit(void)
{
	struct box next = { .mode = box.mode, .error = box.error, .read_ns = box.read_ns };

	memcpy(next.events, box.events, sizeof next.events);
	return next;
}

/* The next process adopts the box, and reads it after @turn. While nobody ran, counters went on. */
static void hand_over(struct turn turn)
{
	struct box next = inherit();

	fake_find(&kernel, READ)->value = turn.read;
	fake_pass(&kernel, SECOND, turn.running_ns);
	assert_int_equal(box_adopt(&next, &two_events, &perf, box.fds, now_ns + SECOND), 0);
	now_ns += SECOND;
	box_read(&next, now_ns);
	assert_int_equal(next.events[0].count, turn.counts[0]);
	assert_int_equal(next.quality, turn.quality);
	box_close(&next);
	assert_int_equal(fake_open_events(&kernel), 0);
}

static void goes_on_counting_after_it_was_handed_over(void **state)
{
	open_box((struct fake_kernel){}, BOX_PINNED);
	play_one(&box, (struct turn){ 10, 0, SECOND, .counts = { 10 } });
	hand_over((struct turn){ 30, 0, SECOND, .counts = { 30 } });
}

/* Half of the time on the PMU, before and after. */
static void goes_on_estimating_after_it_was_handed_over(void **state)
{
	open_box((struct fake_kernel){}, BOX_PINNED);
	play_one(&box, (struct turn){ 10, 0, HALF, NONE, { 20 }, PAGE_ESTIMATED });
	hand_over((struct turn){ 15, 0, QUARTER, NONE, { 20 + 20 }, PAGE_ESTIMATED });
}

/* A box with a count of 10 is refused, and opened anew with its counts. */
static void assert_opened_anew(uint64_t passed_ns, bool group_shrinks)
{
	struct box next;

	open_box((struct fake_kernel){}, BOX_PINNED);
	play_one(&box, (struct turn){ 10, 0, SECOND, .counts = { 10 } });
	fake_pass(&kernel, passed_ns, passed_ns);
	kernel.group_shrinks = group_shrinks;
	next = inherit();
	now_ns += SECOND;
	assert_int_equal(box_adopt(&next, &two_events, &perf, box.fds, now_ns), -ESTALE);
	assert_int_equal(fake_open_events(&kernel), 0);
	kernel.group_shrinks = false;
	assert_int_equal(box_reopen(&next, &two_events, &perf), 0);
	play_one(&next, (struct turn){ 5, 0, SECOND, NONE, { 15 }, PAGE_RESET });
	play_one(&next, (struct turn){ 5, 0, SECOND, .counts = { 15 } });
	box_close(&next);
}

static void is_opened_anew_if_it_stood_still(void **state)
{
	assert_opened_anew(0, false);
}

static void is_opened_anew_if_its_group_fell_apart(void **state)
{
	assert_opened_anew(SECOND, true);
}

/* There is no value until the box can be opened; then the loss is told. */
static void says_what_was_lost_once_it_is_open_again(void **state)
{
	struct box next;

	open_box((struct fake_kernel){}, BOX_PINNED);
	play_one(&box, (struct turn){ 10, 0, SECOND, .counts = { 10 } });
	next = inherit();
	box_close(&box);
	kernel.open_error = -ENODEV;
	assert_int_equal(box_reopen(&next, &two_events, &perf), -ENODEV);
	box_read(&next, 2 * SECOND);
	assert_int_equal(next.error, -ENODEV);
	assert_int_equal(next.quality, PAGE_PARTIAL);
	kernel.open_error = 0;
	assert_int_equal(box_reopen(&next, &two_events, &perf), 0);
	now_ns = 2 * SECOND;
	play_one(&next, (struct turn){ 0, 0, SECOND, NONE, { 10 }, PAGE_RESET });
	box_close(&next);
}

/* The error of the last read must not be taken for the kernel's refusal to open the box. */
static void is_handed_over_without_the_error_of_its_last_read(void **state)
{
	struct box next;

	open_box((struct fake_kernel){}, BOX_PINNED);
	play_one(&box, (struct turn){ 0, 0, SECOND, PINNED_FAILS, { 0 }, PAGE_PARTIAL, -EBUSY });
	kernel.pinned_fails = true;
	next = inherit();
	assert_int_equal(box_adopt(&next, &two_events, &perf, box.fds, 2 * SECOND), 0);
	assert_int_equal(next.error, 0);
	box_close(&next);
}

/* The box is opened anew, and is not on the PMU at first. */
static void says_what_was_lost_though_it_did_not_run_yet(void **state)
{
	struct box next;

	open_box((struct fake_kernel){ .sibling_error = -EINVAL }, BOX_SINGLES);
	next = inherit();
	box_close(&box);
	assert_int_equal(box_reopen(&next, &two_events, &perf), 0);
	play_one(&next, (struct turn){ .quality = PAGE_RESET | PAGE_PARTIAL | PAGE_ESTIMATED,
				.error = -ENODATA });
	box_close(&next);
}

static const struct CMUnitTest others[] = {
	CASE("a box is one pinned group", opens_one_pinned_group),
	CASE("a refused box stays closed and knows why", says_why_the_kernel_refused),
	CASE("a group that never runs becomes single events",
		opens_single_events_where_a_group_never_runs),
	CASE("a group that runs now and then stays one", leaves_a_group_that_runs_alone),
	CASE("a group of which only the leader ran becomes single events",
		opens_single_events_where_only_the_leader_ran),
	CASE("a pinned group that lost its counters asks for them at each read",
		is_enabled_again_when_it_lost_its_counters),
	CASE("a box's clock that stands still means frozen",
		notices_that_the_clock_of_a_box_stands_still),
	CASE("a box goes on counting after it was handed over",
		goes_on_counting_after_it_was_handed_over),
	CASE("a box goes on estimating after it was handed over",
		goes_on_estimating_after_it_was_handed_over),
	CASE("a box that stood still is opened anew", is_opened_anew_if_it_stood_still),
	CASE("a box whose group fell apart is opened anew", is_opened_anew_if_its_group_fell_apart),
	CASE("a box tells its loss once it is open again",
		says_what_was_lost_once_it_is_open_again),
	CASE("a box is handed over without the error of its last read",
		is_handed_over_without_the_error_of_its_last_read),
	CASE("a box tells its loss though it did not run yet",
		says_what_was_lost_though_it_did_not_run_yet),
};

int main(void)
{
	enum { SCRIPTS = ARRAY_SIZE(scripts), OTHERS = ARRAY_SIZE(others) };
	struct CMUnitTest cases[SCRIPTS + OTHERS];

	for (unsigned i = 0; i < SCRIPTS; i++)
		cases[i] = (struct CMUnitTest){ scripts[i].sentence, follow_script, NULL, NULL,
			(void *)(uintptr_t)&scripts[i] };
	memcpy(cases + SCRIPTS, others, sizeof others);
	return cmocka_run_group_tests_name("box", cases, NULL, NULL);
}
