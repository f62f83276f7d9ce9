/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/misses.h"

#include <errno.h>

#include "client/region/cell.h"
#include "client/region/pace.h"
#include "common/clock.h"

enum thread_state { THREAD_NEW, THREAD_COUNTS, THREAD_FAILED };

static _Thread_local struct {
	const struct regions *owner;
	enum thread_state state;
	struct counter counter;
	uint64_t last; /* what was counted when it was last read */
} thread;

/* --- the thread's event --- */

/* While the platform is not known, the thread tries again. */
static enum thread_state begin_counting(struct table *table, const struct counter_wish *wish)
{
	_keeps_running_;
	const int r = counter_open(table, wish, &thread.counter);

	return r == 0 ? THREAD_COUNTS : r == -EAGAIN ? THREAD_NEW : THREAD_FAILED;
}

/* What was counted since the last time; 0 if this thread does not count. */
static uint64_t misses_advance(struct table *table)
{
	_keeps_running_;
	uint64_t now = 0, before = thread.last;

	if (thread.state != THREAD_COUNTS)
		return 0;
	if (counter_read(table, &thread.counter, &now) < 0) {
		counter_close(&thread.counter);
		thread.state = THREAD_FAILED;
		return 0;
	}
	thread.last = now;
	return now - before;
}

/* In a forked child the thread has what its parent's thread had. */
static void misses_adopt(const struct regions *regions)
{
	if (thread.owner == regions)
		return;
	if (thread.owner && thread.state == THREAD_COUNTS)
		counter_close_inherited(&thread.counter);
	thread.owner = regions;
	thread.state = THREAD_NEW;
}

/* --- at passages --- */

/* What counting adds to a call. Some passages of a process through a region are timed, also its
 * first one: there may be no other. The call in which the thread opens its event is not. */
struct timer {
	bool is_on;
	uint64_t time_ns;
};

static struct timer timer_new(const struct regions *regions, const struct region *region)
{
	const struct table *table = regions->team.table;
	const uint64_t n = table->cells[regions->team.member.slot][region->index].n_left;

	return (struct timer){ .is_on = thread.state == THREAD_COUNTS && n % 64 <= 1 };
}

/* Reads the event. What it counted since the last time goes to @region; NULL: to none. */
static void misses_charge(
	const struct regions *regions, const struct region *region, struct timer *timer)
{
	struct table *table = regions->team.table;
	const uint64_t began_ns = timer->is_on ? clock_now_ns() : 0;
	const uint64_t n = misses_advance(table);

	if (region && n)
		__atomic_fetch_add(&table->regions[region->index].misses, n, __ATOMIC_RELAXED);
	if (timer->is_on)
		timer->time_ns += clock_now_ns() - began_ns;
}

/* The call of begin or end is over, and the thread inside a region or not. True: it counts. */
static bool misses_go_on(const struct regions *regions, bool is_inside, struct timer *timer)
{
	struct table *table = regions->team.table;

	if (thread.state == THREAD_NEW)
		thread.state = begin_counting(table, &regions->misses);
	if (is_inside)
		misses_charge(regions, NULL, timer);
	if (timer->is_on)
		cost_add(&table->slots[regions->team.member.slot].misses, timer->time_ns);
	return thread.state == THREAD_COUNTS;
}

int misses_cross(
	struct regions *regions, struct passage *passage, struct region *next, uint64_t now_ns)
{
	const struct region *old = passage->region, *inside = old ? old : passage->outer;
	struct timer timer;
	bool counts;
	int r;

	misses_adopt(regions);
	timer = timer_new(regions, old ? old : next);
	if (inside)
		misses_charge(regions, inside, &timer);
	if (old && passage->is_counted && thread.state == THREAD_COUNTS)
		__atomic_fetch_add(
			&regions->team.table->regions[old->index].n_counted, 1, __ATOMIC_RELAXED);
	r = passage_cross(regions, passage, next, now_ns);
	counts = misses_go_on(regions, next || passage->outer, &timer);
	passage->is_counted = next && counts;
	return r;
}

void misses_end_thread(const struct regions *regions, const struct region *inside)
{
	struct timer timer = { .is_on = false };

	if (thread.owner != regions)
		return;
	misses_charge(regions, inside, &timer);
	if (thread.state == THREAD_COUNTS)
		counter_close(&thread.counter);
	thread.state = THREAD_NEW;
}
