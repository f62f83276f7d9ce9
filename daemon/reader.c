/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/reader.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/privilege.h"

static const uint64_t STOPPED_NS = 1000000000;
static const uint64_t REST_EVERY_NS = 1000000000;

enum {
	ORDER_SLOT = UINT32_MAX,
	STACK_BYTES = 128 * 1024,
	NS_PER_MS = 1000000,
	SPIN_MAX_NS = 100000,
	REST_NS = 50000,       /* what is shorter may be over before it begins */
	GATHER_NS = 20000,     /* a moment for others to ring */
	GATHERS_MAX = 20,      /* ... waited for so often at most */
	GATHERS_QUIET_MAX = 3, /* ... and so often in vain */
};

/* --- where it publishes, and where it runs --- */

static void tell_cpu(struct reader *reader)
{
	struct page_socket *sockets = (void *)page_sockets(reader->page);

	__atomic_store_n(
		&sockets[reader->options.socket].cpu, reader->options.seat.cpu, __ATOMIC_RELAXED);
}

static void publish_into(struct reader *reader, struct page_header *page)
{
	reader->page = page;
	reader->cell = (struct page_cell *)page_cell(page, reader->options.socket);
	tell_cpu(reader);
}

static void keep_seat(struct reader *reader)
{
	if (seat_keep(&reader->options.seat, reader->tally.sweep.end_ns))
		tell_cpu(reader);
}

/* --- one sweep --- */

/* The counters are read in one go, so that the window of the values is as short as it can be. */
static void sweep(struct reader *reader)
{
	struct page_sweep *result = &reader->tally.sweep;
	uint32_t started = page_sweep_begin(reader->cell);

	result->number++;
	result->begin_ns = clock_now_ns();
	for (unsigned i = 0; i < reader->n_boxes; i++)
		box_read(&reader->boxes[i], result->begin_ns);
	result->end_ns = clock_now_ns();
	tally_sum(&reader->tally, reader->boxes, reader->n_boxes);
	ledger_commit(reader->book, result, reader->boxes, reader->n_boxes);
	page_sweep_end(reader->cell, started, result, reader->tally.n_metrics,
		reader->tally.channels, reader->tally.n_channels);
}

/* --- who may ring --- */

static int watch(struct reader *reader, int fd, uint32_t slot)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u32 = slot };

	return epoll_ctl(reader->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static void unwatch(struct reader *reader, int fd)
{
	epoll_ctl(reader->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

static void park(struct reader *reader, struct doorbell *doorbell, uint64_t until_ns)
{
	unwatch(reader, doorbell->fd);
	doorbell->parked = true;
	doorbell->parked_until_ns = until_ns;
	reader->n_parked++;
	reader->state.throttled++;
}

/* Puts a doorbell back; as it is never drained, epoll says at once that it rang. */
static void unpark(struct reader *reader, uint32_t slot, uint64_t now_ns)
{
	struct doorbell *doorbell = &reader->doorbells[slot];

	if (watch(reader, doorbell->fd, slot) < 0) {
		doorbell->parked_until_ns = now_ns + NS_PER_MS; /* no memory: try again */
		return;
	}
	doorbell->parked = false;
	reader->n_parked--;
}

/* Returns how long to sleep: -1 for ever, or ms until the next parked doorbell is due. */
static int unpark_due(struct reader *reader)
{
	uint64_t now = clock_now_ns(), next_ns = UINT64_MAX;

	if (!reader->n_parked)
		return -1;
	for (uint32_t i = 0; i < reader->n_places; i++) {
		struct doorbell *doorbell = &reader->doorbells[i];

		if (!doorbell->parked)
			continue;
		if (doorbell->parked_until_ns <= now)
			unpark(reader, i, now);
		if (doorbell->parked && doorbell->parked_until_ns < next_ns)
			next_ns = doorbell->parked_until_ns;
	}
	if (!reader->n_parked)
		return -1;
	return (int)((next_ns - now + NS_PER_MS - 1) / NS_PER_MS);
}

/*
 * Looks at the @n events behind the first @kept of reader->events, which are admitted already. Adds
 * to those whoever may have a sweep now, and parks the others; events of doorbells that were
 * removed since epoll_wait() are dropped. Returns how many are admitted then.
 */
static unsigned admit(struct reader *reader, unsigned kept, int n, bool *ret_ordered)
{
	uint64_t now = clock_now_ns();

	pthread_mutex_lock(&reader->lock);
	reader->tally.quantum = reader->options.rules.quantum;
	for (unsigned i = kept, end = kept + (n > 0 ? (unsigned)n : 0); i < end; i++) {
		uint32_t slot = reader->events[i].data.u32;
		struct doorbell *doorbell;
		uint64_t wait_ns;

		if (slot == ORDER_SLOT) {
			*ret_ordered = true;
			continue;
		}
		doorbell = &reader->doorbells[slot];
		if (doorbell->fd < 0 || doorbell->parked)
			continue;
		wait_ns = budget_ring(&reader->budget, doorbell->account, now);
		if (wait_ns) {
			park(reader, doorbell, now + wait_ns);
			continue;
		}
		crowd_ring(&reader->crowd, &doorbell->round, now);
		reader->events[kept++].data.u32 = slot;
	}
	pthread_mutex_unlock(&reader->lock);
	return kept;
}

/*
 * Waits for the rest of a crowd, so that one sweep serves them all: until it is complete, or for
 * some moments in which nobody new rings.
 */
static void gather(struct reader *reader, unsigned n_rang, bool *ret_ordered)
{
	const struct timespec moment = { .tv_nsec = GATHER_NS };
	int n_quiet = 0;

	for (int i = 0; i < GATHERS_MAX && n_quiet < GATHERS_QUIET_MAX; i++) {
		unsigned before = n_rang, room = reader->options.max_doorbells + 1 - n_rang;

		if (!room || !crowd_is_incomplete(&reader->crowd))
			break;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
		n_rang = admit(reader, n_rang,
			epoll_wait(reader->epoll_fd, &reader->events[n_rang], (int)room, 0),
			ret_ordered);
		n_quiet += n_rang == before;
	}
}

/*
 * Whoever reads alone may spin while a short sweep runs: on an idle machine, being woken takes
 * about as long again. In a crowd, or for long sweeps, waiters had better sleep.
 */
static void let_spin(struct reader *reader)
{
	uint64_t took_ns = reader->tally.sweep.end_ns - reader->tally.sweep.begin_ns;
	bool worth_it = crowd_is_one(&reader->crowd) && took_ns < SPIN_MAX_NS;

	page_let_spin(reader->cell, worth_it ? SPIN_MAX_NS : 0);
}

/* Holds the lock, so that no bell goes away meanwhile. */
static void wake_waiters(struct reader *reader)
{
	struct account *account;

	pthread_mutex_lock(&reader->lock);
	while ((account = budget_next_to_wake(&reader->budget))) {
		uint64_t begin_ns = clock_now_ns();

		page_bell_ring(account->bell);
		budget_woke(account, clock_now_ns() - begin_ns);
	}
	pthread_mutex_unlock(&reader->lock);
}

/* All CPU time since the last time counts: a ring costs more than its sweep. */
static uint64_t cpu_time_spent(struct reader *reader)
{
	uint64_t before_ns = reader->cpu_ns;
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	reader->cpu_ns = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
	return reader->cpu_ns - before_ns;
}

static int find_stopped(const struct reader *reader)
{
	for (unsigned i = 0; i < reader->n_boxes; i++)
		if (reader->boxes[i].stopped)
			return (int)i;
	return -1;
}

/* Only what stands still for a while is worth the server's attention. */
static void note_stopped(struct reader *reader)
{
	uint64_t now_ns = reader->tally.sweep.end_ns;

	reader->state.stopped = find_stopped(reader);
	if (reader->state.stopped < 0) {
		reader->stopped_since_ns = 0;
	} else if (!reader->stopped_since_ns) {
		reader->stopped_since_ns = now_ns;
	} else if (now_ns - reader->stopped_since_ns >= STOPPED_NS) {
		reader->stopped_since_ns = now_ns;
		eventfd_write(reader->options.attention_fd, 1);
	}
}

static void note_sweep(struct reader *reader)
{
	const struct page_sweep *last = &reader->tally.sweep;

	reader->state.sweeps = last->number;
	reader->state.last_sweep_ns = last->end_ns - last->begin_ns;
	note_stopped(reader);
	budget_swept(&reader->budget, last->begin_ns);
}

static void charge(struct reader *reader)
{
	uint64_t cost_ns = cpu_time_spent(reader);

	pthread_mutex_lock(&reader->lock);
	note_sweep(reader);
	reader->state.cpu_ns += cost_ns;
	page_tell_cost(reader->cell, reader->state.cpu_ns, reader->state.throttled);
	budget_charge(&reader->budget, cost_ns);
	pthread_mutex_unlock(&reader->lock);
}

/* --- the thread --- */

/* When counters that saturate must be read, asked or not. In ms from now; -1: never. */
static int sweep_due(const struct reader *reader)
{
	uint64_t every_ns = reader->options.sweep_every_s * UINT64_C(1000000000);
	uint64_t since_ns = clock_now_ns() - reader->tally.sweep.end_ns;

	if (!every_ns)
		return -1;
	return since_ns < every_ns ? (int)((every_ns - since_ns) / NS_PER_MS) + 1 : 0;
}

static int next_timeout(struct reader *reader)
{
	int timeout_ms, due_ms = sweep_due(reader);

	pthread_mutex_lock(&reader->lock);
	timeout_ms = unpark_due(reader);
	pthread_mutex_unlock(&reader->lock);
	return timeout_ms < 0 || (due_ms >= 0 && due_ms < timeout_ms) ? due_ms : timeout_ms;
}

static void move(struct reader *reader, struct page_header *page)
{
	publish_into(reader, page);
	sweep(reader);
	charge(reader);
	pthread_mutex_lock(&reader->lock);
	reader->next_page = NULL;
	pthread_cond_signal(&reader->carried_out);
	pthread_mutex_unlock(&reader->lock);
}

/* False: it is time to stop. */
static bool carry_out_orders(struct reader *reader)
{
	struct page_header *next_page;
	bool stop;

	pthread_mutex_lock(&reader->lock);
	next_page = reader->next_page;
	stop = reader->stop;
	pthread_mutex_unlock(&reader->lock);
	if (next_page) {
		heartbeat_begin(&reader->heartbeat, "carrying out an order", clock_now_ns());
		move(reader, next_page);
	}
	return !stop;
}

/* Waits for rings, busy with nothing meanwhile. As epoll_wait(2). */
static int wait_for_rings(struct reader *reader)
{
	int timeout_ms = next_timeout(reader), n;

	heartbeat_end(&reader->heartbeat);
	n = epoll_wait(reader->epoll_fd, reader->events, (int)reader->options.max_doorbells + 1,
		timeout_ms);
	heartbeat_begin(&reader->heartbeat, "answering rings", clock_now_ns());
	return n;
}

/*
 * With a budget of 100 % and rings without pause, the thread would never block. At real-time
 * priority that is what a thread that loops looks like, and what LimitRTTIME= of the unit kills.
 */
static void rest(struct reader *reader)
{
	const struct timespec moment = { .tv_nsec = REST_NS };
	uint64_t now_ns = reader->tally.sweep.end_ns;

	if (now_ns - reader->rested_ns < REST_EVERY_NS)
		return;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
	reader->rested_ns = now_ns;
}

/* Waits for rings and answers them once. False: it is time to stop. */
static bool turn(struct reader *reader)
{
	bool ordered = false;
	unsigned n_rang;
	int n = wait_for_rings(reader);

	n_rang = admit(reader, 0, n, &ordered);
	if (n_rang) {
		gather(reader, n_rang, &ordered);
		sweep(reader);
		wake_waiters(reader);
		crowd_swept(&reader->crowd, reader->tally.sweep.end_ns);
		let_spin(reader);
	} else if (sweep_due(reader) == 0) {
		sweep(reader);
		wake_waiters(reader);
	}
	keep_seat(reader);
	charge(reader);
	rest(reader);
	return !ordered || carry_out_orders(reader);
}

static void *run(void *argument)
{
	struct reader *reader = argument;

	privilege_drop();
	prctl(PR_SET_TIMERSLACK, 1); /* for gather(); real-time threads have none anyway */
	while (turn(reader))
		;
	return NULL;
}

/* The lowest real-time priority: with every CPU busy the tail of a fresh read depends on it. */
static bool ask_for_realtime(pthread_t thread)
{
	struct sched_param param = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };

	return pthread_setschedparam(thread, SCHED_FIFO, &param) == 0;
}

int reader_start(struct reader *reader)
{
	pthread_attr_t attr;
	char name[16];
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	r = pthread_create(&reader->thread, &attr, run, reader);
	pthread_attr_destroy(&attr);
	if (r)
		return -r;
	reader->running = true;
	snprintf(name, sizeof name, "socket%u", reader->options.socket);
	pthread_setname_np(reader->thread, name);
	reader->state.pinned =
		reader->options.seat.cpu < 0 || seat_take(&reader->options.seat, reader->thread);
	if (reader->options.realtime)
		reader->state.realtime = ask_for_realtime(reader->thread);
	return 0;
}

/* The server's thread is not real-time: while it holds the lock it runs at the reader's priority.
 */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

static int add_places(struct reader *reader, unsigned n_places)
{
	struct doorbell *grown = reallocarray(reader->doorbells, n_places, sizeof *grown);

	if (!grown)
		return -ENOMEM;
	for (unsigned i = reader->n_places; i < n_places; i++)
		grown[i] = (struct doorbell){ .fd = -1 };
	reader->doorbells = grown;
	reader->n_places = n_places;
	return 0;
}

/* What needs memory or descriptors; reader_done() takes back what there is. */
static int acquire(struct reader *reader)
{
	const struct reader_options *options = &reader->options;

	reader->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (reader->epoll_fd < 0)
		return -errno;
	reader->order_fd = eventfd(0, EFD_CLOEXEC);
	if (reader->order_fd < 0)
		return -errno;
	reader->events = calloc(options->max_doorbells + 1, sizeof *reader->events);
	if (!reader->events || add_places(reader, options->max_doorbells) < 0)
		return -ENOMEM;
	return budget_init(&reader->budget, &options->rules.budget, options->max_doorbells);
}

int reader_init(struct reader *reader, const struct reader_options *options, struct box *boxes,
	unsigned n_boxes, struct tally *tally, struct page_header *page, struct ledger_book *book)
{
	int r;

	*reader = (struct reader){
		.options = *options,
		.boxes = boxes,
		.n_boxes = n_boxes,
		.tally = *tally,
		.book = book,
		.epoll_fd = -1,
		.order_fd = -1,
	};
	*tally = (struct tally){};
	reader->tally.sweep = *ledger_sweep(book);
	publish_into(reader, page);
	reader->state.cpu_ns = reader->cell->cpu_ns;
	reader->state.throttled = reader->cell->throttled;
	init_lock(&reader->lock);
	pthread_cond_init(&reader->carried_out, NULL);
	r = acquire(reader);
	if (r < 0)
		return r;
	reader->tally.quantum = options->rules.quantum;
	tally_resume_channels(&reader->tally, reader->cell->channels);
	sweep(reader);
	note_sweep(reader);
	return watch(reader, reader->order_fd, ORDER_SLOT);
}

void reader_done(struct reader *reader)
{
	if (reader->running) {
		pthread_mutex_lock(&reader->lock);
		reader->stop = true;
		pthread_mutex_unlock(&reader->lock);
		eventfd_write(reader->order_fd, 1);
		pthread_join(reader->thread, NULL);
	}
	reader->running = false;
	pthread_cond_destroy(&reader->carried_out);
	pthread_mutex_destroy(&reader->lock);
	free(reader->doorbells);
	free(reader->events);
	budget_done(&reader->budget);
	tally_done(&reader->tally);
	close_fd(&reader->epoll_fd);
	close_fd(&reader->order_fd);
	*reader = (struct reader){ .epoll_fd = -1, .order_fd = -1 };
}

/* --- for the server --- */

static int free_slot(const struct reader *reader)
{
	for (unsigned i = 0; i < reader->n_places; i++)
		if (reader->doorbells[i].fd < 0)
			return (int)i;
	return -ENOSPC;
}

int reader_add(struct reader *reader, int fd, uint32_t uid, struct page_bell *bell)
{
	int slot, r = 0;

	pthread_mutex_lock(&reader->lock);
	slot = free_slot(reader);
	if (slot >= 0)
		r = watch(reader, fd, (uint32_t)slot);
	if (slot >= 0 && r >= 0) {
		reader->state.n_doorbells++;
		reader->doorbells[slot] = (struct doorbell){
			.fd = fd,
			.account = budget_enter(&reader->budget, uid, bell, clock_now_ns()),
		};
	}
	pthread_mutex_unlock(&reader->lock);
	return r < 0 ? r : slot;
}

void reader_remove(struct reader *reader, int slot)
{
	struct doorbell *doorbell = &reader->doorbells[slot];

	pthread_mutex_lock(&reader->lock);
	if (doorbell->parked)
		reader->n_parked--;
	else
		unwatch(reader, doorbell->fd);
	budget_leave(&reader->budget, doorbell->account);
	*doorbell = (struct doorbell){ .fd = -1 };
	reader->state.n_doorbells--;
	pthread_mutex_unlock(&reader->lock);
}

void reader_move(struct reader *reader, struct page_header *page)
{
	pthread_mutex_lock(&reader->lock);
	reader->next_page = page;
	eventfd_write(reader->order_fd, 1);
	while (reader->next_page)
		pthread_cond_wait(&reader->carried_out, &reader->lock);
	pthread_mutex_unlock(&reader->lock);
}

int reader_reserve(struct reader *reader, unsigned n_places)
{
	int r = 0;

	pthread_mutex_lock(&reader->lock);
	if (n_places > reader->n_places) {
		r = budget_reserve(&reader->budget, n_places);
		if (r >= 0)
			r = add_places(reader, n_places);
	}
	pthread_mutex_unlock(&reader->lock);
	return r;
}

void reader_set_rules(struct reader *reader, const struct reader_rules *rules)
{
	pthread_mutex_lock(&reader->lock);
	reader->options.rules = *rules;
	reader->budget.rules = rules->budget;
	for (unsigned i = 0; i < reader->n_places; i++)
		reader->doorbells[i].parked_until_ns = 0;
	pthread_mutex_unlock(&reader->lock);
	eventfd_write(reader->order_fd, 1);
}

struct reader_state reader_state(struct reader *reader)
{
	struct reader_state state;

	pthread_mutex_lock(&reader->lock);
	state = reader->state;
	pthread_mutex_unlock(&reader->lock);
	return state;
}
