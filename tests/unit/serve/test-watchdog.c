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

static const struct reader *find_hanging(uint64_t now_ns)
{
	return watchdog_look(&watchdog, now_ns).hanging;
}

CASE("a reader that sleeps does not hang")
{
	heartbeat_begin(&readers[0].heartbeat, "answering rings", S);
	heartbeat_rest(&readers[0].heartbeat, 0);
	assert_null(find_hanging(1000000 * S));
}

CASE("a reader that is busy with one thing for more than ten seconds hangs")
{
	heartbeat_begin(&readers[1].heartbeat, "answering rings", 100 * S);
	assert_null(find_hanging(110 * S));
	assert_ptr_equal(find_hanging(110 * S + 1), &readers[1]);
	heartbeat_rest(&readers[1].heartbeat, 0);
}

CASE("a reader that does one thing after the other does not hang")
{
	for (unsigned i = 1; i < 100; i++) {
		heartbeat_begin(&readers[0].heartbeat, "answering rings", i * S);
		assert_null(find_hanging((i + 1) * S));
	}
	heartbeat_rest(&readers[0].heartbeat, 0);
}

/* The reader may have begun after the clock was read, on another CPU. */
CASE("a reader that began just now does not hang")
{
	heartbeat_begin(&readers[0].heartbeat, "answering rings", 2 * S);
	assert_null(find_hanging(S));
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
	struct watchdog_look look;

	heartbeat_begin(&readers[0].heartbeat, "answering rings", 100 * S);
	heartbeat_rest(&readers[0].heartbeat, 500 * S);
	assert_null(find_hanging(510 * S));
	assert_ptr_equal(find_hanging(510 * S + 1), &readers[0]);
	look = watchdog_look(&watchdog, 512 * S);
	assert_int_equal(look.busy_ns, 12 * S);
	assert_string_equal(look.doing, "asleep although an answer was due");
	heartbeat_rest(&readers[0].heartbeat, 0);
}

CASE("a reader that leaves a ring unanswered for more than ten seconds hangs")
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	struct doorbells *doorbells = &readers[1].doorbells;
	int bell = eventfd(0, EFD_CLOEXEC);
	struct watchdog_look look;

	doorbells->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	assert_int_equal(epoll_ctl(doorbells->epoll_fd, EPOLL_CTL_ADD, bell, &event), 0);
	assert_false(watchdog_look(&watchdog, 100 * S).is_rung);
	eventfd_write(bell, 1);
	look = watchdog_look(&watchdog, 200 * S);
	assert_true(look.is_rung);
	assert_null(look.hanging);
	look = watchdog_look(&watchdog, 211 * S);
	assert_true(look.is_rung);
	assert_ptr_equal(look.hanging, &readers[1]);
	assert_int_equal(look.busy_ns, 11 * S);
	assert_string_equal(look.doing, "leaving a ring unanswered");
	heartbeat_begin(&readers[1].heartbeat, "answering rings", 212 * S);
	heartbeat_rest(&readers[1].heartbeat, 0);
	look = watchdog_look(&watchdog, 213 * S); /* a later ring */
	assert_true(look.is_rung);
	assert_null(look.hanging);
	assert_int_equal(epoll_wait(doorbells->epoll_fd, &event, 1, 0), 1); /* looks took nothing */
	look = watchdog_look(&watchdog, 230 * S);
	assert_false(look.is_rung);
	assert_null(look.hanging);
	close_fd(&doorbells->epoll_fd);
	close_fd(&bell);
}
