/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/read/reader.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "common/clock.h"

/* A CPU that goes offline and comes back at once stops its boxes for a moment only. */
static const uint64_t STOPPED_NS = 1000000000;

/* Reports only a box that stands still for a while. */
static void note_stopped(struct reader *reader)
{
	uint64_t now_ns = sweep_last(&reader->sweep)->end_ns;

	reader->state.stopped = sweep_find_stopped(&reader->sweep);
	if (reader->state.stopped < 0) {
		reader->stopped_since_ns = 0;
	} else if (!reader->stopped_since_ns) {
		reader->stopped_since_ns = now_ns;
	} else if (now_ns - reader->stopped_since_ns >= STOPPED_NS) {
		reader->stopped_since_ns = now_ns;
		eventfd_write(reader->options.stopped_fd, 1);
	}
}

void reader_note_sweep(struct reader *reader)
{
	const struct page_sweep *last = sweep_last(&reader->sweep);

	reader->state.sweeps = last->number;
	reader->state.last_sweep_ns = last->end_ns - last->begin_ns;
	reader->state.longest_call_ns = reader->sweep.snapshot.longest_ns;
	reader->state.n_by_program = reader->sweep.n_by_program;
	note_stopped(reader);
}

/* The main thread is not real-time. If the reader waits for the lock, its holder runs at the
 * reader's priority. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

static void load_program(struct reader *reader)
{
	struct sweep *sweep = &reader->sweep;

	if (reader->options.may_use_program)
		snapshot_load(&sweep->snapshot, sweep->boxes, sweep->n_boxes, &reader->why_read);
	else
		fault_set(&reader->why_read, 0, "uncored.conf has method = read.");
}

bool reader_use_program(struct reader *reader)
{
	struct snapshot *snapshot = &reader->sweep.snapshot;

	return snapshot->readings && snapshot_use(snapshot, &reader->why_read) >= 0;
}

static void make_first_sweep(struct reader *reader)
{
	sweep_make(&reader->sweep);
	reader_note_sweep(reader);
	reader->doorbells.budget.swept_ns = sweep_last(&reader->sweep)->begin_ns;
}

int reader_init(struct reader *reader, const struct reader_options *options,
	const struct generation *generation, unsigned socket)
{
	int r;

	*reader = (struct reader){
		.options = *options,
		.doorbells = { .epoll_fd = -1, .order_fd = -1 },
	};
	init_lock(&reader->lock);
	pthread_cond_init(&reader->carried_out, NULL);
	r = sweep_init(&reader->sweep, generation, socket);
	if (r >= 0)
		r = doorbells_init(&reader->doorbells, &options->rules.budget);
	if (r < 0)
		return r;
	load_program(reader);
	sweep_tell_cpu(&reader->sweep, options->affinity.cpu);
	reader->state.cpu_ns = reader->sweep.cell->cpu_ns;
	reader->doorbells.throttled = reader->sweep.cell->throttled;
	reader->sweep.tally.quanta = options->rules.quanta;
	make_first_sweep(reader);
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
	sweep_done(&reader->sweep);
	*reader = (struct reader){ .doorbells = { .epoll_fd = -1, .order_fd = -1 } };
}

/* --- from any thread --- */

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

void reader_keep(struct reader *reader, struct kept_sweep *kept)
{
	pthread_mutex_lock(&reader->lock);
	doorbells_keep(&reader->doorbells, kept);
	pthread_mutex_unlock(&reader->lock);
	eventfd_write(reader->doorbells.order_fd, 1);
}

void reader_count_clients(struct reader *reader, unsigned place, int change)
{
	pthread_mutex_lock(&reader->lock);
	reader->doorbells.places[place].n_clients += change;
	reader->state.n_clients += change;
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
	state.quanta = reader->options.rules.quanta;
	pthread_mutex_unlock(&reader->lock);
	return state;
}

/* Polling the epoll instance takes no event from the thread, and does not touch a doorbell's list
 * of watchers. */
bool reader_is_rung(const struct reader *reader)
{
	struct pollfd events = { .fd = reader->doorbells.epoll_fd, .events = POLLIN };

	return poll(&events, 1, 0) > 0;
}

struct budget_use reader_use(struct reader *reader, unsigned account)
{
	struct budget_use use;

	pthread_mutex_lock(&reader->lock);
	use = budget_use(&reader->doorbells.budget, account, clock_now_ns());
	pthread_mutex_unlock(&reader->lock);
	return use;
}
