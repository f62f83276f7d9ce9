/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/close/handover.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/macro.h"

enum { FILES_PART = 16 }; /* an account's part of the limit of open files */

/* --- lists --- */

bool closing_is_connection(const struct closing *closing)
{
	return closing->epoll_fd < 0;
}

bool closing_is_like(const struct closing *a, const struct closing *b)
{
	return a->account == b->account && closing_is_connection(a) == closing_is_connection(b);
}

static void close_one(struct closing *closing, struct socket_closer *sockets)
{
	if (closing_is_connection(closing)) {
		socket_closer_put(sockets, &closing->fd);
		return;
	}
	epoll_ctl(closing->epoll_fd, EPOLL_CTL_DEL, closing->fd, NULL);
	close_fd(&closing->fd);
}

void closing_close_all(struct closing *list, struct socket_closer *sockets)
{
	for (; list; list = list->next)
		close_one(list, sockets);
	socket_closer_close_waiting(sockets);
}

/* --- the handover --- */

void handover_init(struct handover *handover)
{
	struct rlimit limit;

	handover->full = HANDOVER_FULL;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / FILES_PART < HANDOVER_FULL)
		handover->full = (unsigned)limit.rlim_cur / FILES_PART;
	handover->crowd = handover->full * HANDOVER_CROWD / HANDOVER_FULL;
}

static void count(struct handover *handover, const struct closing *closing, unsigned change)
{
	handover->n_pending += change;
	if (closing->account == ACCOUNTS_NONE)
		return;
	handover->pending[closing->account] += change;
	if (closing->was_served)
		return;
	handover->waiting[closing->account] += change;
	if (!closing_is_connection(closing))
		handover->doorbells[closing->account] += change;
}

static void push(_Atomic(struct closing *) *list, struct closing *closing)
{
	closing->next = *list;
	while (!atomic_compare_exchange_weak(list, &closing->next, closing))
		;
}

void handover_put(struct handover *handover, const struct closing *what)
{
	struct closing *closing = malloc(sizeof *closing);

	/* Without memory the descriptor stays open: a leak is better than a hang. */
	if (closing) {
		*closing = *what;
		count(handover, closing, 1);
		push(&handover->handed, closing);
	}
}

void handover_wake(struct handover *handover, int most)
{
	handover->n_woken++;
	syscall(SYS_futex, &handover->n_woken, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
}

void handover_clean(struct handover *handover, struct budget *budget)
{
	struct closing *done = atomic_exchange(&handover->done, NULL), *next;

	for (; done; done = next) {
		next = done->next;
		if (budget && done->account != ACCOUNTS_NONE)
			budget_charge_unasked(budget, done->account, done->cost_ns);
		free(done);
	}
}

void handover_take(struct handover *handover, struct closing_queue *queue)
{
	struct closing *newest = atomic_exchange(&handover->handed, NULL), *oldest = NULL, *next;
	struct closing **end = newest ? &newest->next : queue->end;

	for (; newest; newest = next) {
		next = newest->next;
		newest->next = oldest;
		oldest = newest;
	}
	*queue->end = oldest;
	queue->end = end;
}

void handover_give_back(struct handover *handover, struct closing *list)
{
	struct closing *next;

	for (; list; list = next) {
		next = list->next;
		count(handover, list, -1U);
		push(&handover->done, list);
	}
}

void handover_wait(struct handover *handover, unsigned n_woken, uint64_t most_ns)
{
	const struct timespec most = { .tv_nsec = (long)most_ns };

	syscall(SYS_futex, &handover->n_woken, FUTEX_WAIT_PRIVATE, n_woken, most_ns ? &most : NULL,
		NULL, 0);
}
