/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/read/reader.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/privilege.h"

static const uint64_t STOPPED_NS = 1000000000;
static const uint64_t REST_EVERY_NS = 1000000000;

enum {
	STACK_BYTES = 128 * 1024,
	SPIN_SWEEP_NS = 100000, /* a sweep that is short enough to spin for */
	SPIN_MAX_NS = 200000,
	REST_NS = 50000,   /* what is shorter may be over before it begins */
	GATHER_NS = 20000, /* a moment for others to ring */
};

/* --- where it publishes, and where it runs --- */

static void tell_cpu(struct reader *reader)
{
	struct page_socket *sockets = (void *)page_sockets(reader->page);

	__atomic_store_n(&sockets[reader->options.socket].cpu, reader->options.affinity.cpu,
		__ATOMIC_RELAXED);
}

static void publish_into(struct reader *reader, struct page_header *page)
{
	reader->page = page;
	reader->cell = (struct page_cell *)page_cell(page, reader->options.socket);
	tell_cpu(reader);
}

static void follow_counters(struct reader *reader)
{
	if (affinity_follow(&reader->options.affinity, reader->tally.sweep.end_ns))
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

/* --- whom it answers --- */

/* Waits for the rest of a batch. Returns whether there is an order. */
static bool gather(struct reader *reader)
{
	const struct timespec moment = { .tv_nsec = GATHER_NS };
	struct doorbells *doorbells = &reader->doorbells;
	bool ordered = false, quiet = false;

	pthread_mutex_lock(&reader->lock);
	for (unsigned i = 0; i < doorbells_expect_more(doorbells); i++) {
		pthread_mutex_unlock(&reader->lock);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
		doorbells_wait(doorbells, 0);
		pthread_mutex_lock(&reader->lock);
		quiet = doorbells->n_events <= 0;
		ordered |= doorbells_note(doorbells, clock_now_ns());
	}
	if (quiet)
		doorbells_expect_fewer(doorbells);
	pthread_mutex_unlock(&reader->lock);
	return ordered;
}

/*
 * Few clients may spin while a short sweep runs: on an idle machine, being woken takes about as
 * long again. In a batch, or for long sweeps, waiters had better sleep.
 */
static uint32_t spin_ns(const struct reader *reader)
{
	uint64_t took_ns = reader->tally.sweep.end_ns - reader->tally.sweep.begin_ns;

	return took_ns < SPIN_SWEEP_NS ? SPIN_MAX_NS : 0;
}

/* Those of whom few wait come first. The lock is free between two portions. */
static void wake_waiters(struct reader *reader)
{
	for (int many = 0; many <= 1; many++)
		for (unsigned i = 0; i < reader->doorbells.n_busy; i++) {
			pthread_mutex_lock(&reader->lock);
			doorbells_wake(&reader->doorbells, i, many);
			pthread_mutex_unlock(&reader->lock);
		}
}

/* All CPU time since the last time counts: a ring costs more than its sweep. */
static uint64_t cpu_time_spent(struct reader *reader)
{
	uint64_t before_ns = reader->cpu_ns;

	reader->cpu_ns = clock_thread_ns();
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
		eventfd_write(reader->options.stopped_fd, 1);
	}
}

static void note_sweep(struct reader *reader)
{
	const struct page_sweep *last = &reader->tally.sweep;

	reader->state.sweeps = last->number;
	reader->state.last_sweep_ns = last->end_ns - last->begin_ns;
	note_stopped(reader);
}

/* Ends a turn, in which there was a sweep or not. */
static void charge(struct reader *reader, bool swept)
{
	uint64_t cost_ns = cpu_time_spent(reader);

	pthread_mutex_lock(&reader->lock);
	if (swept)
		note_sweep(reader);
	reader->state.cpu_ns += cost_ns;
	doorbells_charge(&reader->doorbells, swept ? reader->tally.sweep.begin_ns : 0, cost_ns,
		clock_now_ns());
	page_tell_cost(reader->cell, reader->state.cpu_ns, reader->doorbells.throttled);
	pthread_mutex_unlock(&reader->lock);
}

/* --- the thread --- */

/* When counters that saturate must be read, asked or not. In ns from now; -1: never. */
static int64_t sweep_due_ns(const struct reader *reader, uint64_t now_ns)
{
	uint64_t every_ns = reader->options.sweep_every_s * UINT64_C(1000000000);
	uint64_t since_ns = now_ns - reader->tally.sweep.end_ns;

	if (!every_ns)
		return -1;
	return since_ns < every_ns ? (int64_t)(every_ns - since_ns) : 0;
}

static int64_t next_timeout_ns(struct reader *reader)
{
	uint64_t now_ns = clock_now_ns();
	int64_t claim_ns, sweep_ns = sweep_due_ns(reader, now_ns);

	pthread_mutex_lock(&reader->lock);
	claim_ns = doorbells_due_ns(&reader->doorbells, now_ns);
	pthread_mutex_unlock(&reader->lock);
	return claim_ns < 0 || (sweep_ns >= 0 && sweep_ns < claim_ns) ? sweep_ns : claim_ns;
}

static void move(struct reader *reader, struct page_header *page)
{
	publish_into(reader, page);
	sweep(reader);
	charge(reader, true);
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

/* Notes who rang and who is admitted. True: there is an order. */
static bool admit(struct reader *reader, bool *ret_admitted)
{
	uint64_t now_ns = clock_now_ns();
	bool ordered;

	pthread_mutex_lock(&reader->lock);
	ordered = doorbells_note(&reader->doorbells, now_ns);
	*ret_admitted = doorbells_admit(&reader->doorbells, now_ns);
	reader->tally.quantum = reader->options.rules.quantum;
	pthread_mutex_unlock(&reader->lock);
	return ordered;
}

/* One sweep for those who are admitted, and all who can join them. */
static bool answer(struct reader *reader)
{
	bool ordered = gather(reader), is_one;

	pthread_mutex_lock(&reader->lock);
	is_one = doorbells_join(&reader->doorbells, clock_now_ns(), spin_ns(reader));
	pthread_mutex_unlock(&reader->lock);
	sweep(reader);
	page_let_spin(reader->cell, is_one ? spin_ns(reader) : 0);
	return ordered;
}

/* Waits for rings, busy with nothing meanwhile. */
static void wait_for_rings(struct reader *reader)
{
	int64_t timeout_ns = next_timeout_ns(reader);

	heartbeat_end(&reader->heartbeat);
	doorbells_wait(&reader->doorbells, timeout_ns);
	heartbeat_begin(&reader->heartbeat, "answering rings", clock_now_ns());
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
	bool ordered, admitted, swept = true;

	wait_for_rings(reader);
	ordered = admit(reader, &admitted);
	if (admitted)
		ordered |= answer(reader);
	else if (sweep_due_ns(reader, clock_now_ns()) == 0)
		sweep(reader);
	else
		swept = false;
	wake_waiters(reader);
	follow_counters(reader);
	charge(reader, swept);
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
	reader->state.pinned = reader->options.affinity.cpu < 0 ||
			       affinity_set(&reader->options.affinity, reader->thread);
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
		.doorbells = { .epoll_fd = -1, .order_fd = -1 },
	};
	*tally = (struct tally){};
	reader->tally.sweep = *ledger_sweep(book);
	publish_into(reader, page);
	reader->state.cpu_ns = reader->cell->cpu_ns;
	init_lock(&reader->lock);
	pthread_cond_init(&reader->carried_out, NULL);
	r = doorbells_init(&reader->doorbells, &options->rules.budget);
	if (r < 0)
		return r;
	reader->doorbells.throttled = reader->cell->throttled;
	reader->tally.quantum = options->rules.quantum;
	tally_resume_channels(&reader->tally, reader->cell->channels);
	sweep(reader);
	note_sweep(reader);
	reader->doorbells.budget.swept_ns = reader->tally.sweep.begin_ns;
	return 0;
}

void reader_done(struct reader *reader)
{
	if (reader->running) {
		pthread_mutex_lock(&reader->lock);
		reader->stop = true;
		pthread_mutex_unlock(&reader->lock);
		eventfd_write(reader->doorbells.order_fd, 1);
		pthread_join(reader->thread, NULL);
	}
	reader->running = false;
	pthread_cond_destroy(&reader->carried_out);
	pthread_mutex_destroy(&reader->lock);
	doorbells_done(&reader->doorbells);
	tally_done(&reader->tally);
	*reader = (struct reader){ .doorbells = { .epoll_fd = -1, .order_fd = -1 } };
}

/* --- for the server --- */

int reader_add(
	struct reader *reader, unsigned place, unsigned account, int fd, struct page_wakeup *wakeup)
{
	int r;

	pthread_mutex_lock(&reader->lock);
	r = doorbells_add(&reader->doorbells, place, account, fd, wakeup);
	pthread_mutex_unlock(&reader->lock);
	return r;
}

void reader_remove(struct reader *reader, unsigned place)
{
	pthread_mutex_lock(&reader->lock);
	reader->state.n_clients -= reader->doorbells.places[place].n_clients;
	doorbells_remove(&reader->doorbells, place);
	pthread_mutex_unlock(&reader->lock);
}

int reader_replace(struct reader *reader, unsigned place, int fd)
{
	int r;

	pthread_mutex_lock(&reader->lock);
	r = doorbells_watch(&reader->doorbells, place, fd);
	pthread_mutex_unlock(&reader->lock);
	return r;
}

void reader_count_clients(struct reader *reader, unsigned place, int change)
{
	pthread_mutex_lock(&reader->lock);
	reader->doorbells.places[place].n_clients += change;
	reader->state.n_clients += change;
	pthread_mutex_unlock(&reader->lock);
}

void reader_set_account(struct reader *reader, unsigned place, unsigned account)
{
	pthread_mutex_lock(&reader->lock);
	budget_move(&reader->doorbells.budget, reader->doorbells.places[place].account, account);
	reader->doorbells.places[place].account = account;
	pthread_mutex_unlock(&reader->lock);
}

void reader_forget_account(struct reader *reader, unsigned account)
{
	pthread_mutex_lock(&reader->lock);
	budget_forget(&reader->doorbells.budget, account);
	pthread_mutex_unlock(&reader->lock);
}

void reader_move(struct reader *reader, struct page_header *page)
{
	pthread_mutex_lock(&reader->lock);
	reader->next_page = page;
	eventfd_write(reader->doorbells.order_fd, 1);
	while (reader->next_page)
		pthread_cond_wait(&reader->carried_out, &reader->lock);
	pthread_mutex_unlock(&reader->lock);
}

void reader_set_rules(struct reader *reader, const struct reader_rules *rules)
{
	pthread_mutex_lock(&reader->lock);
	reader->options.rules = *rules;
	doorbells_set_rules(&reader->doorbells, &rules->budget);
	pthread_mutex_unlock(&reader->lock);
	eventfd_write(reader->doorbells.order_fd, 1);
}

struct reader_state reader_state(struct reader *reader)
{
	struct reader_state state;

	pthread_mutex_lock(&reader->lock);
	state = reader->state;
	state.throttled = reader->doorbells.throttled;
	pthread_mutex_unlock(&reader->lock);
	return state;
}
