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

CASE("a reader that sleeps does not hang")
{
	heartbeat_begin(&readers[0].heartbeat, "answering rings", S);
	heartbeat_rest(&readers[0].heartbeat, 0);
	assert_null(watchdog_find_hanging(&watchdog, 1000000 * S));
}

CASE("a reader that is busy with one thing for more than ten seconds hangs")
{
	heartbeat_begin(&readers[1].heartbeat, "answering rings", 100 * S);
	assert_null(watchdog_find_hanging(&watchdog, 110 * S));
	assert_ptr_equal(watchdog_find_hanging(&watchdog, 110 * S + 1), &readers[1]);
	heartbeat_rest(&readers[1].heartbeat, 0);
}

CASE("a reader that does one thing after the other does not hang")
{
	for (unsigned i = 1; i < 100; i++) {
		heartbeat_begin(&readers[0].heartbeat, "answering rings", i * S);
		assert_null(watchdog_find_hanging(&watchdog, (i + 1) * S));
	}
	heartbeat_rest(&readers[0].heartbeat, 0);
}

/* The reader may have begun after the clock was read, on another CPU. */
CASE("a reader that began just now does not hang")
{
	heartbeat_begin(&readers[0].heartbeat, "answering rings", 2 * S);
	assert_null(watchdog_find_hanging(&watchdog, S));
	heartbeat_rest(&readers[0].heartbeat, 0);
}

CASE("a watchdog with a short interval has a shorter limit")
{
	assert_int_equal(watchdog_limit_ns(&watchdog), 10 * S);
	assert_int_equal(watchdog_limit_ns(&(struct watchdog){ .interval_us = 8000000 }), 2 * S);
}

/* A claim that the budget puts off has a time at which it is due. */
CASE("a reader that sleeps past the time of an answer hangs")
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

CASE("a reader that leaves a ring unanswered for more than ten seconds hangs")
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
