/* SPDX-License-Identifier: BSD-3-Clause */
/* When a reader counts as hanging. tests/continuity/ has the consequences. */
#include "daemon/serve/watchdog.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "common/macro.h"
#include "tests/harness/test.h"

static const uint64_t S = 1000000000;

static struct reader readers[2] = {
	{ .sweep.socket = 0, .doorbells.epoll_fd = -1 },
	{ .sweep.socket = 1, .doorbells.epoll_fd = -1 },
};
static struct watchdog watchdog = { .readers = readers, .n_readers = 2, .interval_us = 300000000 };

static void a_reader_that_sleeps_does_not_hang(void **state)
{
	heartbeat_begin(&readers[0].heartbeat, "answering rings", S);
	heartbeat_rest(&readers[0].heartbeat, 0);
	assert_null(watchdog_find_hanging(&watchdog, 1000000 * S));
}

static void after_ten_seconds_with_one_thing_it_hangs(void **state)
{
	heartbeat_begin(&readers[1].heartbeat, "answering rings", 100 * S);
	assert_null(watchdog_find_hanging(&watchdog, 110 * S));
	assert_ptr_equal(watchdog_find_hanging(&watchdog, 110 * S + 1), &readers[1]);
	heartbeat_rest(&readers[1].heartbeat, 0);
}

static void one_thing_after_the_other_is_no_hang(void **state)
{
	for (unsigned i = 1; i < 100; i++) {
		heartbeat_begin(&readers[0].heartbeat, "answering rings", i * S);
		assert_null(watchdog_find_hanging(&watchdog, (i + 1) * S));
	}
	heartbeat_rest(&readers[0].heartbeat, 0);
}

/* The reader may have begun after the clock was read, on another CPU. */
static void what_begins_later_than_now_is_no_hang(void **state)
{
	heartbeat_begin(&readers[0].heartbeat, "answering rings", 2 * S);
	assert_null(watchdog_find_hanging(&watchdog, S));
	heartbeat_rest(&readers[0].heartbeat, 0);
}

static void a_short_interval_has_a_shorter_limit(void **state)
{
	assert_int_equal(watchdog_limit_ns(&watchdog), 10 * S);
	assert_int_equal(watchdog_limit_ns(&(struct watchdog){ .interval_us = 8000000 }), 2 * S);
}

/* A claim that the budget puts off has a time at which it is due. */
static void a_reader_that_sleeps_past_an_answer_that_is_due_hangs(void **state)
{
	const char *doing;

	heartbeat_begin(&readers[0].heartbeat, "answering rings", 100 * S);
	heartbeat_rest(&readers[0].heartbeat, 500 * S);
	assert_null(watchdog_find_hanging(&watchdog, 510 * S));
	assert_ptr_equal(watchdog_find_hanging(&watchdog, 510 * S + 1), &readers[0]);
	assert_int_equal(watchdog_busy_ns(&watchdog, 0, 512 * S, &doing), 12 * S);
	assert_string_equal(doing, "asleep although an answer was due");
	heartbeat_rest(&readers[0].heartbeat, 0);
}

static void a_ring_that_a_reader_does_not_take_is_a_hang(void **state)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	struct doorbells *doorbells = &readers[1].doorbells;
	int bell = eventfd(0, EFD_CLOEXEC);
	const char *doing;

	doorbells->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	assert_int_equal(epoll_ctl(doorbells->epoll_fd, EPOLL_CTL_ADD, bell, &event), 0);
	assert_false(watchdog_look(&watchdog, 100 * S));
	eventfd_write(bell, 1);
	assert_true(watchdog_look(&watchdog, 200 * S));
	assert_null(watchdog_find_hanging(&watchdog, 200 * S));
	assert_true(watchdog_look(&watchdog, 211 * S));
	assert_ptr_equal(watchdog_find_hanging(&watchdog, 211 * S), &readers[1]);
	assert_int_equal(watchdog_busy_ns(&watchdog, 1, 211 * S, &doing), 11 * S);
	assert_string_equal(doing, "leaving a ring unanswered");
	heartbeat_begin(&readers[1].heartbeat, "answering rings", 212 * S);
	heartbeat_rest(&readers[1].heartbeat, 0);
	assert_true(watchdog_look(&watchdog, 213 * S)); /* a later ring */
	assert_null(watchdog_find_hanging(&watchdog, 213 * S));
	assert_int_equal(epoll_wait(doorbells->epoll_fd, &event, 1, 0), 1); /* looks took nothing */
	assert_false(watchdog_look(&watchdog, 230 * S));
	assert_null(watchdog_find_hanging(&watchdog, 230 * S));
	close_fd(&doorbells->epoll_fd);
	close_fd(&bell);
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
		CASE("a reader that sleeps past the time of an answer hangs",
			a_reader_that_sleeps_past_an_answer_that_is_due_hangs),
		CASE("a reader that leaves a ring unanswered for more than ten seconds hangs",
			a_ring_that_a_reader_does_not_take_is_a_hang),
	};

	return cmocka_run_group_tests_name("watchdog", cases, NULL, NULL);
}
