/* SPDX-License-Identifier: BSD-3-Clause */
/* When a reader counts as hanging. tests/continuity/ has the consequences. */
#include "daemon/serve/watchdog.h"
#include "tests/harness/test.h"

static const uint64_t S = 1000000000;

static struct reader readers[2] = { { .sweep.socket = 0 }, { .sweep.socket = 1 } };
static struct watchdog watchdog = { .readers = readers, .n_readers = 2, .interval_us = 300000000 };

static void a_reader_that_sleeps_does_not_hang(void **state)
{
	(void)state;
	heartbeat_begin(&readers[0].heartbeat, "answering rings", S);
	heartbeat_end(&readers[0].heartbeat);
	assert_null(watchdog_find_hanging(&watchdog, 1000000 * S));
}

static void after_ten_seconds_with_one_thing_it_hangs(void **state)
{
	(void)state;
	heartbeat_begin(&readers[1].heartbeat, "answering rings", 100 * S);
	assert_null(watchdog_find_hanging(&watchdog, 110 * S));
	assert_ptr_equal(watchdog_find_hanging(&watchdog, 110 * S + 1), &readers[1]);
	heartbeat_end(&readers[1].heartbeat);
}

static void one_thing_after_the_other_is_no_hang(void **state)
{
	(void)state;
	for (unsigned i = 1; i < 100; i++) {
		heartbeat_begin(&readers[0].heartbeat, "answering rings", i * S);
		assert_null(watchdog_find_hanging(&watchdog, (i + 1) * S));
	}
	heartbeat_end(&readers[0].heartbeat);
}

/* The reader may have begun after the clock was read, on another CPU. */
static void what_begins_later_than_now_is_no_hang(void **state)
{
	(void)state;
	heartbeat_begin(&readers[0].heartbeat, "answering rings", 2 * S);
	assert_null(watchdog_find_hanging(&watchdog, S));
	heartbeat_end(&readers[0].heartbeat);
}

static void a_short_interval_has_a_shorter_limit(void **state)
{
	(void)state;
	assert_int_equal(watchdog_limit_ns(&watchdog), 10 * S);
	assert_int_equal(watchdog_limit_ns(&(struct watchdog){ .interval_us = 8000000 }), 2 * S);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("a reader that sleeps does not hang", a_reader_that_sleeps_does_not_hang),
		CASE("a reader that is busy with one thing for more than ten seconds hangs",
			after_ten_seconds_with_one_thing_it_hangs),
		CASE("a reader that does one thing after the other does not hang",
			one_thing_after_the_other_is_no_hang),
		CASE("a reader that began just now does not hang",
			what_begins_later_than_now_is_no_hang),
		CASE("a watchdog with a short interval has a shorter limit",
			a_short_interval_has_a_shorter_limit),
	};

	return cmocka_run_group_tests_name("watchdog", cases, NULL, NULL);
}
