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
	pthread_cond_init(&reader->carried_out, NULL);
	r = doorbells_init(&reader->doorbells, &options->rules.budget);
	if (r >= 0)
		r = sweep_init(&reader->sweep, generation, socket);
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
		pthread_mutex_lock(&reader->doorbells.lock);
		reader->stop = true;
		pthread_mutex_unlock(&reader->doorbells.lock);
		doorbells_order(&reader->doorbells);
		pthread_join(reader->thread, NULL);
	}
	reader->running = false;
	pthread_cond_destroy(&reader->carried_out);
	doorbells_done(&reader->doorbells);
	sweep_done(&reader->sweep);
	*reader = (struct reader){ .doorbells = { .epoll_fd = -1, .order_fd = -1 } };
}

/* --- from any thread --- */

void reader_move(struct reader *reader, struct page_header *page)
{
	pthread_mutex_lock(&reader->doorbells.lock);
	reader->next_page = page;
	doorbells_order(&reader->doorbells);
	while (reader->next_page)
		pthread_cond_wait(&reader->carried_out, &reader->doorbells.lock);
	pthread_mutex_unlock(&reader->doorbells.lock);
}

void reader_set_rules(struct reader *reader, const struct reader_rules *rules)
{
	pthread_mutex_lock(&reader->doorbells.lock);
	reader->options.rules = *rules;
	doorbells_set_rules(&reader->doorbells, &rules->budget);
	pthread_mutex_unlock(&reader->doorbells.lock);
	doorbells_order(&reader->doorbells);
}

struct reader_state reader_state(struct reader *reader)
{
	struct reader_state state;

	pthread_mutex_lock(&reader->doorbells.lock);
	state = reader->state;
	state.throttled = reader->doorbells.throttled;
	state.quanta = reader->options.rules.quanta;
	pthread_mutex_unlock(&reader->doorbells.lock);
	return state;
}

/* Polling the epoll instance takes no event from the thread, and does not touch a doorbell's list
 * of watchers. */
bool reader_is_rung(const struct reader *reader)
{
	struct pollfd events = { .fd = reader->doorbells.epoll_fd, .events = POLLIN };

	return poll(&events, 1, 0) > 0;
}
