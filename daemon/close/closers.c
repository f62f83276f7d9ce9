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
#include "daemon/close/socket-closer.h"

static const uint64_t HANG_NS = 3000000000; /* a busy machine may let a thread wait for long */

/* USUAL_NS is five times what a close takes the main thread. What an account's closes take beyond
 * that adds up, and cheaper ones make up for it. From COSTLY_NS on the account is costly, for
 * COSTLY_FOR_NS. */
static const uint64_t USUAL_NS = 50000, COSTLY_NS = 5000000, COSTLY_FOR_NS = 60000000000;

enum {
	STACK_BYTES = 128 * 1024,
	FILES_PART = 16, /* an account's part of the limit of open files */
	LOOK_US = 1000,
	END_LOOKS = 3000,
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
	atomic_uint n_waiting;               /* of these, all that were not served */
	uint64_t costly_ns, costly_until_ns; /* of closes by the main thread */
};

struct closers {
	unsigned most_waiting; /* CLOSERS_WAITING_MAX, or fewer */
	atomic_uint n_pending, n_threads;
	_Atomic(struct closing *) done;   /* the newest first */
	struct closing *left;             /* there was no thread for these */
	struct socket_closer turned_away; /* sockets that need a thread; they share one per turn */
	struct queue queues[ACCOUNTS_MAX + 1]; /* the last is nobody's */
};

static unsigned queue_at(unsigned account)
{
	return account == ACCOUNTS_NONE ? ACCOUNTS_MAX : account;
}

/* --- the thread of an account --- */

/* Without a helper thread a socket waits; see socket-closer.h. */
static void close_socket(int *fd)
{
	struct socket_closer closer = {};

	socket_closer_close(&closer, fd);
	while (closer.n_waiting) {
		usleep(LOOK_US);
		socket_closer_close_waiting(&closer);
	}
	socket_closer_done(&closer);
}

static void close_one(struct closing *closing)
{
	if (closing->epoll_fd < 0) {
		close_socket(&closing->fd);
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
	struct queue *queue = &closers->queues[queue_at(account)];

	queue->costly_until_ns = clock_now_ns() + COSTLY_FOR_NS;
	queue->costly_ns = 0;
}

bool closers_hold(const struct closers *closers, unsigned account)
{
	return closers->queues[queue_at(account)].n_pending;
}

void closers_forget(struct closers *closers, unsigned account)
{
	struct queue *queue = &closers->queues[queue_at(account)];

	queue->costly_ns = queue->costly_until_ns = 0;
}

/* Waking the watchers of a client's end can cost much, so it wakes them once, and then looks
 * whether that took long. */
static bool close_here(struct closers *closers, unsigned account, int *fd)
{
	struct queue *queue = &closers->queues[queue_at(account)];
	uint64_t before_ns, cost_ns;
	bool closed;

	if (clock_now_ns() < queue->costly_until_ns)
		return false;
	before_ns = clock_thread_ns();
	shutdown(*fd, SHUT_RDWR);
	closed = clock_thread_ns() - before_ns <= USUAL_NS && socket_close_if_empty(fd);
	cost_ns = clock_thread_ns() - before_ns;
	queue->costly_ns += cost_ns;
	queue->costly_ns -= least_of(queue->costly_ns, USUAL_NS);
	if (queue->costly_ns > COSTLY_NS)
		closers_beware(closers, account);
	return closed;
}

void closers_close_connection(struct closers *closers, unsigned account, int *fd)
{
	if (*fd >= 0 && !close_here(closers, account, fd))
		close_later(closers,
			&(struct closing){ .account = account, .fd = take_fd(fd), .epoll_fd = -1 });
}

void closers_close_served(struct closers *closers, unsigned account, int *fd)
{
	if (!close_here(closers, account, fd))
		close_later(closers, &(struct closing){ .account = account,
					     .fd = take_fd(fd),
					     .epoll_fd = -1,
					     .was_served = true });
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

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
		limit.rlim_cur / FILES_PART >= CLOSERS_WAITING_MAX)
		return CLOSERS_WAITING_MAX;
	return (unsigned)limit.rlim_cur / FILES_PART;
}

int closers_new(struct closers **ret)
{
	struct closers *closers = calloc(1, sizeof *closers);

	if (!closers)
		return -ENOMEM;
	closers->most_waiting = most_waiting();
	*ret = closers;
	return 0;
}

struct closers *closers_free(struct closers *closers)
{
	if (!closers)
		return NULL;
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
