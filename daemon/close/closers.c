/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/close/closers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/bounds.h"
#include "common/clock.h"
#include "common/macro.h"
#include "daemon/admit/accounts.h"
#include "daemon/base/privilege.h"
#include "daemon/close/costly.h"
#include "daemon/close/socket-closer.h"
#include "daemon/close/unread.h"

static const uint64_t HANG_NS = 3000000000; /* a busy machine may let a thread wait for long */

enum {
	STACK_BYTES = 128 * 1024,
	FILES_PART = 16, /* an account's part of the limit of open files */
	LOOK_US = 1000,
	END_LOOKS = 3000,
	RECEIVED_AT_ONCE = 16,
};

/*
 * A descriptor for a thread to close. The main thread allocates and frees it, and takes no lock
 * here: a thread that holds one, also one of malloc(3), may wait for a CPU for 10 ms and more.
 */
struct closing {
	struct closing *next;
	struct closers *closers;
	unsigned account;
	int fd;
	int epoll_fd;     /* the epoll that watches a doorbell; -1: this is a connection */
	bool was_served;  /* its client was welcomed, and has left of its own accord */
	uint64_t cost_ns; /* CPU time of the close */
};

/* In the place of a list: the thread of the account runs, and nothing waits for it. */
static struct closing busy;

struct queue {
	_Atomic(struct closing *) waiting; /* newest first; NULL: the account has no thread */
	_Atomic uint64_t since_ns;         /* when the close that is under way began; 0: none */
	atomic_uint n_pending;
	atomic_uint n_waiting; /* of these, all that were not served */
	struct costly costly;  /* closes by the main thread */
};

struct closers {
	unsigned most_waiting; /* CLOSERS_WAITING_MAX, or fewer */
	atomic_uint n_pending, n_threads;
	_Atomic(struct closing *) done; /* the newest first */
	struct closing *left;           /* there was no thread for these */
	struct unread unread;
	struct socket_closer turned_away; /* sockets that need a thread; they share one per turn */
	struct queue queues[ACCOUNTS_MAX + 1]; /* the last is nobody's */
};

static unsigned queue_at(unsigned account)
{
	return account == ACCOUNTS_NONE ? ACCOUNTS_MAX : account;
}

/* --- the thread of an account --- */

static void close_one(struct closing *closing)
{
	if (closing->epoll_fd < 0) {
		socket_closer_close_alone(&closing->fd);
		return;
	}
	epoll_ctl(closing->epoll_fd, EPOLL_CTL_DEL, closing->fd, NULL);
	close_fd(&closing->fd);
}

static void give_back(struct closers *closers, struct closing *closing)
{
	closing->next = closers->done;
	while (!atomic_compare_exchange_weak(&closers->done, &closing->next, closing))
		;
}

static struct closing *oldest_first(struct closing *list)
{
	struct closing *before = NULL, *next;

	for (; list; list = next) {
		next = list->next;
		list->next = before;
		before = list;
	}
	return before;
}

static void close_list(struct closers *closers, struct queue *queue, struct closing *list)
{
	for (struct closing *next; list; list = next) {
		uint64_t before_ns = clock_thread_ns();

		next = list->next;
		queue->since_ns = clock_now_ns();
		close_one(list);
		queue->since_ns = 0;
		list->cost_ns = clock_thread_ns() - before_ns;
		queue->n_waiting -= !list->was_served;
		give_back(closers, list);
		queue->n_pending--;
		closers->n_pending--;
	}
}

static void *closers_run(void *argument)
{
	const struct closing *first = argument;
	struct closers *closers = first->closers;
	struct queue *queue = &closers->queues[queue_at(first->account)];
	struct closing *none;

	privilege_drop();
	do {
		close_list(closers, queue, oldest_first(atomic_exchange(&queue->waiting, &busy)));
		none = &busy;
	} while (!atomic_compare_exchange_strong(&queue->waiting, &none, NULL));
	closers->n_threads--;
	return NULL;
}

static bool start_thread(struct closing *first)
{
	struct closers *closers = first->closers;
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	if (closers->n_threads >= CLOSERS_MAX)
		return false;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	closers->n_threads++;
	r = pthread_create(&thread, &attr, closers_run, first);
	pthread_attr_destroy(&attr);
	if (r)
		closers->n_threads--;
	return !r;
}

/* --- for the main thread --- */

/* Hands @closing to the thread of its account, or keeps it until there can be one. */
static void closers_hand_over(struct closing *closing)
{
	struct closers *closers = closing->closers;
	struct queue *queue = &closers->queues[queue_at(closing->account)];
	struct closing *newest = queue->waiting;

	do {
		closing->next = newest == &busy ? NULL : newest;
	} while (!atomic_compare_exchange_weak(&queue->waiting, &newest, closing));
	if (newest || start_thread(closing))
		return;
	queue->waiting = NULL; /* it was alone there */
	closing->next = closers->left;
	closers->left = closing;
}

static void close_later(struct closers *closers, const struct closing *what)
{
	struct closing *closing = malloc(sizeof *closing);
	struct queue *queue = &closers->queues[queue_at(what->account)];

	/* Without memory the descriptor stays open: a leak is better than a hang. */
	if (closing) {
		*closing = *what;
		closing->closers = closers;
		queue->n_waiting += !what->was_served;
		queue->n_pending++;
		closers->n_pending++;
		closers_hand_over(closing);
	}
}

void closers_beware(struct closers *closers, unsigned account)
{
	costly_beware(&closers->queues[queue_at(account)].costly);
}

bool closers_hold(const struct closers *closers, unsigned account)
{
	return closers->queues[queue_at(account)].n_pending;
}

void closers_forget(struct closers *closers, unsigned account)
{
	closers->queues[queue_at(account)].costly = (struct costly){};
}

static void count_unread(struct closers *closers, unsigned account, int change)
{
	struct queue *queue = &closers->queues[queue_at(account)];

	queue->n_waiting += (unsigned)change;
	queue->n_pending += (unsigned)change;
	closers->n_pending += (unsigned)change;
}

static bool keep_unread(struct closers *closers, unsigned account, int *fd)
{
	bool is_kept = false;

	if (unread_is_left(*fd)) {
		costly_show_end(&closers->queues[queue_at(account)].costly, *fd);
		is_kept = unread_keep(&closers->unread, account, fd);
		count_unread(closers, account, is_kept);
	}
	return is_kept;
}

void closers_close_connection(
	struct closers *closers, unsigned account, struct closers_client client, int *fd)
{
	if (*fd < 0 || (client.was_sent_files && keep_unread(closers, account, fd)) ||
		costly_close(&closers->queues[queue_at(account)].costly, fd))
		return;
	close_later(closers, &(struct closing){ .account = account,
				     .fd = take_fd(fd),
				     .epoll_fd = -1,
				     .was_served = client.was_served });
}

void closers_turn_away(struct closers *closers, unsigned account, int *fd)
{
	if (socket_close_if_empty(fd))
		return;
	if (closers->queues[queue_at(account)].n_waiting >= closers->most_waiting)
		socket_closer_put(&closers->turned_away, fd);
	else
		close_later(closers,
			&(struct closing){ .account = account, .fd = take_fd(fd), .epoll_fd = -1 });
}

void closers_close_doorbell(struct closers *closers, unsigned account, int epoll_fd, int *fd)
{
	if (*fd >= 0)
		close_later(closers,
			&(struct closing){
				.account = account, .fd = take_fd(fd), .epoll_fd = epoll_fd });
}

int closers_poll_fd(const struct closers *closers)
{
	return closers->unread.epoll_fd;
}

static void close_kept(struct closers *closers, unsigned account, int fd)
{
	count_unread(closers, account, -1);
	closers_close_connection(closers, account, (struct closers_client){}, &fd);
}

static void close_received(struct closers *closers, struct budget *budget)
{
	unsigned account;
	int fd;

	for (unsigned n = 0; n < RECEIVED_AT_ONCE; n++) {
		uint64_t before_ns = clock_thread_ns();

		if (!unread_take_received(&closers->unread, &account, &fd))
			break;
		close_kept(closers, account, fd);
		if (budget && account != ACCOUNTS_NONE)
			budget_charge_unasked(budget, account, clock_thread_ns() - before_ns);
	}
}

/* Does a close hang, which did not end while we looked? */
bool closers_hang(const struct closers *closers, unsigned account)
{
	const struct queue *queue = &closers->queues[queue_at(account)];
	uint64_t since_ns = queue->since_ns;

	return since_ns && clock_now_ns() > since_ns + HANG_NS && queue->since_ns == since_ns;
}

bool closers_have_too_many(
	const struct closers *closers, unsigned account, unsigned n_open, unsigned most_open)
{
	const struct queue *queue = &closers->queues[queue_at(account)];

	return queue->n_waiting >= closers->most_waiting ||
	       n_open + queue->n_pending >= most_open + closers->most_waiting;
}

unsigned closers_pending(const struct closers *closers)
{
	return closers->n_pending;
}

unsigned closers_unread(const struct closers *closers)
{
	return closers->unread.n;
}

static void charge_done(struct closers *closers, struct budget *budget)
{
	struct closing *done = atomic_exchange(&closers->done, NULL), *next;

	for (; done; done = next) {
		next = done->next;
		if (budget && done->account != ACCOUNTS_NONE)
			budget_charge_unasked(budget, done->account, done->cost_ns);
		free(done);
	}
}

void closers_settle(struct closers *closers, struct budget *budget)
{
	struct closing *left = closers->left, *next;

	socket_closer_close_waiting(&closers->turned_away);
	close_received(closers, budget);
	charge_done(closers, budget);
	closers->left = NULL;
	for (; left; left = next) {
		next = left->next;
		closers_hand_over(left);
	}
}

/* --- beginning and end --- */

static unsigned most_waiting(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return CLOSERS_WAITING_MAX;
	return (unsigned)least_of(limit.rlim_cur / FILES_PART, CLOSERS_WAITING_MAX);
}

int closers_new(struct closers **ret)
{
	struct closers *closers = calloc(1, sizeof *closers);
	int r = closers ? unread_init(&closers->unread) : -ENOMEM;

	if (r < 0) {
		free(closers);
		return r;
	}
	closers->most_waiting = most_waiting();
	*ret = closers;
	return 0;
}

/* Nobody waits any more until clients have received what was sent. */
static void close_unread(struct closers *closers)
{
	unsigned account;
	int fd;

	while (unread_take_last(&closers->unread, &account, &fd))
		close_kept(closers, account, fd);
	unread_done(&closers->unread);
}

struct closers *closers_free(struct closers *closers)
{
	if (!closers)
		return NULL;
	close_unread(closers);
	for (unsigned i = 0; i < END_LOOKS && closers->n_pending + closers->n_threads; i++) {
		closers_settle(closers, NULL);
		usleep(LOOK_US);
	}
	socket_closer_done(&closers->turned_away);
	if (closers->n_threads || closers->left)
		return NULL;
	charge_done(closers, NULL);
	free(closers);
	return NULL;
}
