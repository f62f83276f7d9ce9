/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/close/closers.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/privilege.h"
#include "daemon/close/handover.h"
#include "daemon/close/socket-closer.h"

static const uint64_t SLOW_NS = 5000000;    /* after which another thread takes over */
static const uint64_t HANG_NS = 3000000000; /* a busy machine may let a thread wait for long */
static const uint64_t COSTLY_NS = 200000;   /* of a close by the main thread: ten times the usual */
static const uint64_t COSTLY_FOR_NS = 60000000000; /* how long the main thread remembers it */

enum {
	STACK_BYTES = 128 * 1024,
	IDLE_MAX = 2,
	/* Handed over with one wake-up, which costs as much as accepting two connections. */
	BATCH_MAX = 16,
	DOORBELLS_MAX = 128, /* of an account, to be closed: an honest one has less than a fifth */
};

struct closer {
	struct closers *closers;
	pthread_t thread;
	bool used, ended;            /* ended: to be joined */
	_Atomic uint64_t since_ns;   /* when its close began; 0: it is idle */
	atomic_uint account;         /* of that close */
	const struct closing *batch; /* the batch that it closes */
	struct socket_closer sockets;
};

struct closers {
	struct handover handover;
	/* used by the main thread only */
	unsigned n_silent;                      /* handed over since a thread was last woken */
	uint64_t costly_until_ns[ACCOUNTS_MAX]; /* a close for the account was costly */
	struct socket_closer turned_away; /* sockets that need a thread; they share one per turn */
	/* protects all that follows */
	pthread_mutex_t lock;
	pthread_cond_t progress;
	bool stop;
	struct closing_queue queue;
	unsigned n_closers;
	struct closer closers[CLOSERS_MAX];
};

/* --- starting and ending threads, with the lock held --- */

static void *run(void *argument);

static void join_ended(struct closer *closer)
{
	if (!closer->ended)
		return;
	pthread_join(closer->thread, NULL);
	closer->used = closer->ended = false;
}

static struct closer *free_closer(struct closers *closers)
{
	for (unsigned i = 0; i < CLOSERS_MAX; i++) {
		join_ended(&closers->closers[i]);
		if (!closers->closers[i].used)
			return &closers->closers[i];
	}
	return NULL;
}

static int start_closer(struct closers *closers)
{
	struct closer *closer = free_closer(closers);
	pthread_attr_t attr;
	int r;

	if (!closer)
		return -EAGAIN;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	closer->closers = closers;
	r = pthread_create(&closer->thread, &attr, run, closer);
	pthread_attr_destroy(&attr);
	if (r)
		return -r;
	closer->used = true;
	closers->n_closers++;
	return 0;
}

static unsigned count_busy(const struct closers *closers)
{
	unsigned n = 0;

	for (unsigned i = 0; i < CLOSERS_MAX; i++)
		n += closers->closers[i].since_ns != 0;
	return n;
}

/* Starts a thread if none is idle: an idle one takes over when the others hang. */
static void keep_one_idle(struct closers *closers)
{
	if (closers->n_closers <= count_busy(closers))
		start_closer(closers);
}

/* --- a thread --- */

static bool is_served(const struct closers *closers, const struct closing *closing)
{
	for (unsigned i = 0; i < CLOSERS_MAX; i++) {
		const struct closer *closer = &closers->closers[i];

		if (closer->since_ns && closing_is_like(closer->batch, closing))
			return true;
	}
	return false;
}

/*
 * Takes the oldest element of an account and kind that no thread serves. If it is a connection,
 * also takes the connections of that account that follow it directly. Returns the list; NULL: there
 * is no such element.
 */
static struct closing *take(struct closers *closers)
{
	struct closing **at = &closers->queue.first, *first, *last;
	unsigned n = 1;

	while (*at && is_served(closers, *at))
		at = &(*at)->next;
	first = last = *at;
	if (!first)
		return NULL;
	while (last->next && closing_is_connection(first) && closing_is_like(last->next, first) &&
		n++ < BATCH_MAX)
		last = last->next;
	*at = last->next;
	if (!*at)
		closers->queue.end = at;
	last->next = NULL;
	return first;
}

/* Called with the lock held; unlocks it during the closes. */
static void serve(struct closer *closer, struct closing *batch)
{
	struct closers *closers = closer->closers;
	uint64_t before_ns = clock_thread_ns();

	closer->batch = batch;
	closer->account = batch->account;
	closer->since_ns = clock_now_ns();
	keep_one_idle(closers);
	pthread_mutex_unlock(&closers->lock);
	closing_close_all(batch, &closer->sockets);
	pthread_mutex_lock(&closers->lock);
	closer->since_ns = 0;
	batch->cost_ns = clock_thread_ns() - before_ns;
	handover_give_back(&closers->handover, batch);
}

/* One thread is enough until it has shown that it is slow. */
static bool one_is_quick(const struct closers *closers)
{
	uint64_t now_ns = clock_now_ns();

	for (unsigned i = 0; i < CLOSERS_MAX; i++)
		if (closers->closers[i].since_ns &&
			now_ns - closers->closers[i].since_ns <= SLOW_NS)
			return true;
	return false;
}

static void wait_for_work(struct closers *closers, unsigned n_woken, bool left)
{
	pthread_mutex_unlock(&closers->lock);
	handover_wait(&closers->handover, n_woken, left ? SLOW_NS : 0);
	pthread_mutex_lock(&closers->lock);
}

/* May a thread without work end? A thread that still holds sockets stays to close them. */
static bool may_end(const struct closer *closer, bool left)
{
	const struct closers *closers = closer->closers;

	if (closers->stop)
		return !left;
	return !closer->sockets.n_waiting && closers->n_closers - count_busy(closers) > IDLE_MAX;
}

static void *run(void *argument)
{
	struct closer *closer = argument;
	struct closers *closers = closer->closers;
	struct closing *batch;
	unsigned n_woken;
	bool left;

	privilege_drop();
	pthread_mutex_lock(&closers->lock);
	for (;;) {
		n_woken = closers->handover.n_woken;
		handover_take(&closers->handover, &closers->queue);
		/* Checked once per pass: a thread that is quick now may be slow the next time. */
		left = closers->queue.first && one_is_quick(closers);
		batch = left ? NULL : take(closers);
		if (batch)
			serve(closer, batch);
		else if (may_end(closer, left))
			break;
		else
			wait_for_work(closers, n_woken, left);
	}
	socket_closer_done(&closer->sockets);
	closers->n_closers--;
	closer->ended = true;
	pthread_cond_broadcast(&closers->progress);
	pthread_mutex_unlock(&closers->lock);
	return NULL;
}

/* --- beginning and end --- */

static void init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attr);
	pthread_condattr_destroy(&attr);
}

int closers_new(struct closers **ret)
{
	struct closers *closers = calloc(1, sizeof *closers);
	int r;

	if (!closers)
		return -ENOMEM;
	handover_init(&closers->handover);
	closers->queue.end = &closers->queue.first;
	pthread_mutex_init(&closers->lock, NULL);
	init_condition(&closers->progress);
	pthread_mutex_lock(&closers->lock);
	r = start_closer(closers);
	pthread_mutex_unlock(&closers->lock);
	if (r < 0)
		free(closers);
	else
		*ret = closers;
	return r;
}

/* Waits for a second, which is less than a hanging close takes. True: all threads have ended. */
static bool wait_for_end(struct closers *closers)
{
	struct timespec until;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 1;
	while (closers->n_closers && r == 0)
		r = pthread_cond_timedwait(&closers->progress, &closers->lock, &until);
	return !closers->n_closers;
}

struct closers *closers_free(struct closers *closers)
{
	bool all_ended;

	if (!closers)
		return NULL;
	closers_hand_over(closers);
	socket_closer_done(&closers->turned_away);
	pthread_mutex_lock(&closers->lock);
	closers->stop = true;
	handover_wake(&closers->handover, INT_MAX);
	all_ended = wait_for_end(closers);
	for (unsigned i = 0; i < CLOSERS_MAX; i++)
		join_ended(&closers->closers[i]);
	pthread_mutex_unlock(&closers->lock);
	handover_clean(&closers->handover, NULL);
	if (all_ended) {
		pthread_cond_destroy(&closers->progress);
		pthread_mutex_destroy(&closers->lock);
		free(closers);
	}
	return NULL;
}

/* --- for the main thread --- */

static void close_later(struct closers *closers, struct closing what)
{
	if (what.fd < 0)
		return;
	handover_put(&closers->handover, &what);
	if (++closers->n_silent >= BATCH_MAX)
		closers_hand_over(closers);
}

void closers_hand_over(struct closers *closers)
{
	socket_closer_close_waiting(&closers->turned_away);
	if (!closers->n_silent)
		return;
	closers->n_silent = 0;
	handover_wake(&closers->handover, 1);
	if (pthread_mutex_trylock(&closers->lock) == 0) {
		keep_one_idle(closers);
		pthread_mutex_unlock(&closers->lock);
	}
}

void closers_close_connection(struct closers *closers, unsigned account, int *fd)
{
	close_later(closers, (struct closing){ NULL, account, take_fd(fd), -1, false });
}

/* Closes *@fd if that waits for nothing. Waking the watchers of a client's end can cost much: after
 * one such close, the main thread makes no more for that account for a minute. */
static bool close_at_once(struct closers *closers, unsigned account, int *fd)
{
	uint64_t before_ns = clock_thread_ns(), now_ns = clock_now_ns();
	bool closed = now_ns >= closers->costly_until_ns[account] && socket_close_if_empty(fd);

	if (closed && clock_thread_ns() - before_ns > COSTLY_NS)
		closers->costly_until_ns[account] = now_ns + COSTLY_FOR_NS;
	return closed;
}

void closers_close_served(struct closers *closers, unsigned account, int *fd)
{
	if (closers->handover.n_pending >= closers->handover.full &&
		close_at_once(closers, account, fd))
		return;
	close_later(closers, (struct closing){ NULL, account, take_fd(fd), -1, true });
}

void closers_turn_away(struct closers *closers, unsigned account, int *fd)
{
	if (socket_close_if_empty(fd))
		return;
	if (closers->handover.waiting[account] < closers->handover.full)
		closers_close_connection(closers, account, fd);
	else
		socket_closer_put(&closers->turned_away, fd);
}

void closers_close_doorbell(struct closers *closers, unsigned account, int epoll_fd, int *fd)
{
	close_later(closers, (struct closing){ NULL, account, take_fd(fd), epoll_fd, false });
}

bool closers_has_crowd(const struct closers *closers, unsigned account)
{
	return closers->handover.waiting[account] >= closers->handover.crowd;
}

bool closers_has_too_many(
	const struct closers *closers, unsigned account, unsigned n_open, unsigned most_open)
{
	return n_open + closers->handover.pending[account] >= most_open + closers->handover.full;
}

/* Does @closer hang with a close of @account, and not with one that ended while we looked? */
static bool hangs(const struct closer *closer, unsigned account)
{
	uint64_t since_ns = closer->since_ns, now_ns = clock_now_ns();

	return since_ns && now_ns > since_ns + HANG_NS && closer->account == account &&
	       closer->since_ns == since_ns;
}

bool closers_hang(const struct closers *closers, unsigned account)
{
	if (!closers->handover.n_pending)
		return false;
	for (unsigned i = 0; i < CLOSERS_MAX; i++)
		if (hangs(&closers->closers[i], account))
			return true;
	return closers->handover.doorbells[account] > DOORBELLS_MAX;
}

unsigned closers_pending(const struct closers *closers)
{
	return closers->handover.n_pending;
}

void closers_charge(struct closers *closers, struct budget *budget)
{
	handover_clean(&closers->handover, budget);
}
