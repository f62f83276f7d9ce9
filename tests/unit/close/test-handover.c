/* SPDX-License-Identifier: BSD-3-Clause */
/* What is handed over to the closers is counted once, in every state that it goes through. */
#include "daemon/close/handover.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/harness/test.h"

enum { ACCOUNT = 3, OTHER = 4 };

static struct handover handover; /* too large for the stack */

/* What counts for a descriptor until it is closed. */
static const struct kind {
	struct closing closing;
	unsigned pending, waiting, doorbells; /* of ACCOUNT */
} kinds[] = {
	{ { .account = ACCOUNT, .epoll_fd = -1 }, 1, 1, 0 },
	{ { .account = ACCOUNT, .epoll_fd = -1, .was_served = true }, 1, 0, 0 },
	{ { .account = ACCOUNT, .epoll_fd = INT32_MAX }, 1, 1, 1 },
	{ { .account = OTHER, .epoll_fd = -1 }, 0, 0, 0 },
	{ { .account = ACCOUNTS_NONE, .epoll_fd = -1 }, 0, 0, 0 },
};

static void assert_counted(const struct kind *kind, unsigned times)
{
	assert_int_equal(handover.n_pending, times);
	assert_int_equal(handover.pending[ACCOUNT], times * kind->pending);
	assert_int_equal(handover.waiting[ACCOUNT], times * kind->waiting);
	assert_int_equal(handover.doorbells[ACCOUNT], times * kind->doorbells);
}

static void begin(void)
{
	handover = (struct handover){};
	handover_init(&handover);
}

CASE("a descriptor counts once: handed over, in a closer's queue and hand, and no more when closed")
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct closing_queue queue = { .end = &queue.first };
		struct socket_closer sockets = {};
		struct closing what = kinds[i].closing;

		what.fd = eventfd(0, EFD_CLOEXEC);
		assert_counted(&kinds[i], 0);
		handover_put(&handover, &what);
		assert_counted(&kinds[i], 1);
		handover_take(&handover, &queue);
		assert_counted(&kinds[i], 1);
		closing_close_all(queue.first, &sockets);
		assert_counted(&kinds[i], 1);
		handover_give_back(&handover, queue.first);
		assert_counted(&kinds[i], 0);
		handover_clean(&handover, NULL);
		assert_counted(&kinds[i], 0);
		socket_closer_done(&sockets);
	}
}

CASE("descriptors of all kinds add up, and each goes alone")
{
	struct closing_queue queue = { .end = &queue.first };
	unsigned n = ARRAY_SIZE(kinds), pending = 0;

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct closing what = kinds[i].closing;

		what.fd = -1;
		handover_put(&handover, &what);
		pending += kinds[i].pending;
		assert_int_equal(handover.pending[ACCOUNT], pending);
	}
	handover_take(&handover, &queue);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct closing *first = queue.first;

		queue.first = first->next;
		first->next = NULL;
		handover_give_back(&handover, first);
		pending -= kinds[i].pending;
		assert_int_equal(handover.pending[ACCOUNT], pending);
		assert_int_equal(handover.n_pending, --n);
	}
	handover_clean(&handover, NULL);
}
