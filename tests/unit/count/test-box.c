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

/* An extra box behind a main box in @main, from a kernel that refuses nothing. */
static void open_behind(enum box_mode main, enum box_mode mode)
{
	const struct box main_box = { .mode = main };

	kernel = (struct fake_kernel){};
	perf = fake_perf(&kernel);
	box = (struct box){};
	box_wait_behind(&box, &main_box);
	assert_int_equal(box_open(&box, &two_events, &perf), 0);
	assert_int_equal(box.mode, mode);
	for (int i = 0; i < kernel.n_events; i++)
		assert_true(mode == BOX_PINNED || !kernel.events[i].pinned);
	box_close(&box);
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
	box_read(read, false, now_ns);
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
	{ "where the driver takes no groups, events are single and pinned",
		{ .sibling_error = -EINVAL }, BOX_PINNED_SINGLES,
		{ { 0, 5, SECOND, .counts = { 0, 5 } },
			{ 0, 5, SECOND, PINNED_FAILS, { 0, 5 }, PAGE_PARTIAL, -EBUSY },
			{ 0, 9, SECOND, .counts = { 0, 9 } } } },
	{ "a group that is too large becomes single events",
		{ .sibling_error = -EINVAL, .pinned_fails = true }, BOX_SINGLES,
		{ { 0, 5, SECOND, .counts = { 0, 5 } } } },
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

CASE("a box is one pinned group")
{
	open_box((struct fake_kernel){}, BOX_PINNED);
	assert_true(kernel.events[0].pinned);
	assert_int_equal(kernel.events[1].group_fd, 0);
	assert_false(kernel.events[1].pinned);
	box_close(&box);
	assert_int_equal(fake_open_events(&kernel), 0);
}

CASE("a refused box stays closed and knows why")
{
	static const int errors[] = { -EACCES, -ENODEV, -EINVAL, -EMFILE, -ENOENT };

	perf = fake_perf(&kernel);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		kernel = (struct fake_kernel){ .open_error = errors[i] };
		box = (struct box){};
		assert_int_equal(box_open(&box, &two_events, &perf), errors[i]);
		assert_int_equal(box.mode, BOX_CLOSED);
		assert_int_equal(box.quality, PAGE_PARTIAL);
		box_read(&box, false, SECOND);
		assert_int_equal(box.error, errors[i]);
		assert_int_equal(fake_open_events(&kernel), 0);
	}
}

/* As AMD's driver does: it takes a group that can never be on the PMU. */
CASE("a group that never runs becomes single events")
{
	open_box((struct fake_kernel){ .pinned_fails = true }, BOX_FLEXIBLE);
	play_one(
		&box, (struct turn){ .quality = PAGE_PARTIAL | PAGE_ESTIMATED, .error = -ENODATA });
	assert_int_equal(box_settle(&box), 1);
	assert_int_equal(box.mode, BOX_SINGLES);
	assert_int_equal(fake_open_events(&kernel), 2);
	fake_pass(&kernel, SECOND, SECOND);
	fake_find(&kernel, WRITE)->value = 5;
	box_read(&box, false, 2 * SECOND);
	assert_int_equal(box.error, 0);
	box_close(&box);
}

CASE("a group that runs now and then stays one")
{
	open_box((struct fake_kernel){ .pinned_fails = true }, BOX_FLEXIBLE);
	fake_pass(&kernel, SECOND, 1);
	assert_int_equal(box_settle(&box), 0);
	assert_int_equal(box.mode, BOX_FLEXIBLE);
	box_close(&box);
}

/* Its leader ran while it was alone, and since its sibling came the group does not fit. */
CASE("a group of which only the leader ran becomes single events")
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

/* The kernel would give a pinned box its counters first, and the main box none. */
CASE("an extra box behind a flexible one is flexible")
{
	open_behind(BOX_FLEXIBLE, BOX_FLEXIBLE);
	open_behind(BOX_SINGLES, BOX_FLEXIBLE);
	open_behind(BOX_CLOSED, BOX_PINNED);
	open_behind(BOX_PINNED, BOX_PINNED);
	open_behind(BOX_PINNED_SINGLES, BOX_PINNED);
	box = (struct box){};
	box_wait_behind(&box, NULL);
	assert_false(box.waits);
}

CASE("pinned single events that lost their counters ask for them one by one")
{
	open_box((struct fake_kernel){ .sibling_error = -EINVAL }, BOX_PINNED_SINGLES);
	play_one(&box, (struct turn){ 0, 0, SECOND, PINNED_FAILS, { 0 }, PAGE_PARTIAL, -EBUSY });
	assert_int_equal(kernel.n_enabled, 2);
	box_close(&box);
}

CASE("a pinned group that lost its counters asks for them at each read")
{
	open_box((struct fake_kernel){}, BOX_PINNED);
	play_one(&box, (struct turn){ 0, 0, SECOND, PINNED_FAILS, { 0 }, PAGE_PARTIAL, -EBUSY });
	assert_int_equal(kernel.n_enabled, 1);
	box_close(&box);
}

CASE("a box's clock that stands still means frozen")
{
	kernel = (struct fake_kernel){};
	perf = fake_perf(&kernel);
	box = (struct box){};
	assert_int_equal(box_open(&box, &with_clock, &perf), 0);
	fake_find(&kernel, CLOCK)->value = 5000;
	fake_pass(&kernel, SECOND, SECOND);
	box_read(&box, false, 1000 * MS);
	assert_int_equal(box.quality, 0);
	/* Posted every few ms: standing still for less than clock_ms proves nothing. */
	fake_pass(&kernel, 19 * MS, 19 * MS);
	box_read(&box, false, 1019 * MS);
	assert_int_equal(box.quality, 0);
	fake_pass(&kernel, 1 * MS, 1 * MS);
	box_read(&box, false, 1020 * MS);
	assert_int_equal(box.quality, PAGE_FROZEN);
	fake_find(&kernel, CLOCK)->value = 5001;
	fake_pass(&kernel, 1 * MS, 1 * MS);
	box_read(&box, false, 1021 * MS);
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
	box_read(&next, false, now_ns);
	assert_int_equal(next.events[0].count, turn.counts[0]);
	assert_int_equal(next.quality, turn.quality);
	box_close(&next);
	assert_int_equal(fake_open_events(&kernel), 0);
}

CASE("a box goes on counting after it was handed over")
{
	open_box((struct fake_kernel){}, BOX_PINNED);
	play_one(&box, (struct turn){ 10, 0, SECOND, .counts = { 10 } });
	hand_over((struct turn){ 30, 0, SECOND, .counts = { 30 } });
}

CASE("pinned single events go on counting after they were saved and restored")
{
	struct box_record record = {};
	struct box next = {};

	open_box((struct fake_kernel){ .sibling_error = -EINVAL }, BOX_PINNED_SINGLES);
	play_one(&box, (struct turn){ 10, 1, SECOND, .counts = { 10, 1 } });
	box_save(&box, &record);
	box_restore(&next, &record);
	assert_int_equal(next.mode, BOX_PINNED_SINGLES);
	fake_pass(&kernel, SECOND, SECOND);
	assert_int_equal(box_adopt(&next, &two_events, &perf, box.fds, now_ns + SECOND), 0);
	assert_false(next.reopened);
	now_ns += SECOND;
	play_one(&next, (struct turn){ 30, 4, SECOND, .counts = { 30, 4 } });
	assert_int_equal(fake_open_events(&kernel), 2);
	box_close(&next);
	assert_int_equal(fake_open_events(&kernel), 0);
}

/* Its main box had to be opened anew, and is flexible now. */
CASE("a pinned extra box is not taken over behind a flexible one")
{
	const struct box flexible = { .mode = BOX_FLEXIBLE };
	struct box next;

	open_box((struct fake_kernel){}, BOX_PINNED);
	play_one(&box, (struct turn){ 10, 0, SECOND, .counts = { 10 } });
	fake_pass(&kernel, SECOND, SECOND);
	next = inherit();
	box_wait_behind(&next, &flexible);
	assert_int_equal(box_adopt(&next, &two_events, &perf, box.fds, now_ns + SECOND), -ESTALE);
	assert_int_equal(fake_open_events(&kernel), 0);
	assert_int_equal(box_reopen(&next, &two_events, &perf), 0);
	assert_int_equal(next.mode, BOX_FLEXIBLE);
	box_close(&next);
}

/* Half of the time on the PMU, before and after. */
CASE("a box goes on estimating after it was handed over")
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

CASE("a box that stood still is opened anew")
{
	assert_opened_anew(0, false);
}

CASE("a box whose group fell apart is opened anew")
{
	assert_opened_anew(SECOND, true);
}

/* There is no value until the box can be opened; then the loss is told. */
CASE("a box tells its loss once it is open again")
{
	struct box next;

	open_box((struct fake_kernel){}, BOX_PINNED);
	play_one(&box, (struct turn){ 10, 0, SECOND, .counts = { 10 } });
	next = inherit();
	box_close(&box);
	kernel.open_error = -ENODEV;
	assert_int_equal(box_reopen(&next, &two_events, &perf), -ENODEV);
	box_read(&next, false, 2 * SECOND);
	assert_int_equal(next.error, -ENODEV);
	assert_int_equal(next.quality, PAGE_PARTIAL);
	kernel.open_error = 0;
	assert_int_equal(box_reopen(&next, &two_events, &perf), 0);
	now_ns = 2 * SECOND;
	play_one(&next, (struct turn){ 0, 0, SECOND, NONE, { 10 }, PAGE_RESET });
	box_close(&next);
}

/* The error of the last read must not be taken for the kernel's refusal to open the box. */
CASE("a box is handed over without the error of its last read")
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
CASE("a box tells its loss though it did not run yet")
{
	struct box next;

	open_box((struct fake_kernel){ .sibling_error = -EINVAL, .pinned_fails = true },
		BOX_SINGLES);
	next = inherit();
	box_close(&box);
	assert_int_equal(box_reopen(&next, &two_events, &perf), 0);
	play_one(&next, (struct turn){ .quality = PAGE_RESET | PAGE_PARTIAL | PAGE_ESTIMATED,
				.error = -ENODATA });
	box_close(&next);
}

/* The helper zeroes the values of a leader that it cannot read. */
CASE("a box takes no reading with an error")
{
	struct box_reading reading = { 30, SECOND, SECOND, 0 };
	int64_t other = 4;

	open_box((struct fake_kernel){}, BOX_PINNED);
	box.reading = &reading;
	box.other_counts = &other;
	fake_find(&kernel, READ)->value = 31;
	fake_find(&kernel, WRITE)->value = 5;
	fake_pass(&kernel, SECOND, SECOND);
	assert_true(box_read(&box, true, SECOND));
	assert_int_equal(box.events[0].count, 30);
	assert_int_equal(box.events[1].count, 4);
	for (int64_t error = -4095; error < 0; error++) {
		other = error;
		assert_false(box_read(&box, true, SECOND + 1));
		assert_int_equal(box.events[0].count, 31);
		assert_int_equal(box.events[1].count, 5);
		assert_int_equal(box.quality, 0);
	}
	other = 5;
	reading = (struct box_reading){ .error = -EINVAL };
	assert_false(box_read(&box, true, SECOND + 2));
	assert_int_equal(box.events[0].count, 31);
	kernel.read_error = -EIO;
	assert_false(box_read(&box, true, SECOND + 3));
	assert_int_equal(box.quality, PAGE_PARTIAL);
	assert_int_equal(box.error, -EIO);
	assert_int_equal(box.events[0].count, 31);
	box_close(&box);
}

int main(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(scripts); i++)
		case_add((struct CMUnitTest){ scripts[i].sentence, follow_script, NULL, NULL,
			(void *)(uintptr_t)&scripts[i] });
	return run_cases(NULL, NULL);
}
