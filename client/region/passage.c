/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/passage.h"

#include <errno.h>

#include "client/region/cell.h"
#include "client/region/cost.h"
#include "client/region/nest.h"
#include "client/region/observe.h"
#include "client/region/stretch.h"
#include "common/clock.h"

/* A reading of the team is taken this long after the last one. It bounds what is lost if processes
 * are killed. */
static const uint64_t READ_AFTER_NS = 1000000000;

/* After a passage this long, the microsecond for a check whether the region's holder is alive
 * hardly matters. */
static const uint64_t LONG_NS = 2000000;

static struct table_cell *own_cell(const struct regions *regions, const struct region *region)
{
	return &regions->team.table->cells[regions->team.member.slot][region->index];
}

/* Counts a thread of this process in or out, by one of the functions of cell.h. */
#define WITH_CELL(regions, region, function, ...)                                                  \
	do {                                                                                       \
		pthread_mutex_lock(&(region)->lock);                                               \
		function(own_cell(regions, region), ##__VA_ARGS__);                                \
		pthread_mutex_unlock(&(region)->lock);                                             \
	} while (0)

/* --- at any passage --- */

/* Takes a reading that no stretch needs. It updates the table, and gives the estimate another
 * interval. */
static bool read_between(struct regions *regions)
{
	_cleanup_(reading_done) struct reading reading = { .meter = &regions->meter };

	if (reading_take(&reading) == 0)
		stretch_advance_others(&regions->team.member, STRETCH_ALL, &reading, false);
	return true;
}

/* Looks for dead members and takes a reading, each if due. True: it took a reading. */
static bool look_around(struct regions *regions, uint64_t now_ns)
{
	struct member *member = &regions->team.member;
	uint64_t *last = &regions->team.table->header.last_reading_ns;
	uint64_t before_ns = __atomic_load_n(last, __ATOMIC_RELAXED);

	if (member->fd == MEMBER_ALONE)
		return false;
	if (member_should_look(member, now_ns)) {
		member_look_for_dead(member);
		stretch_settle_dead(member);
	}
	if (now_ns > before_ns && now_ns - before_ns >= READ_AFTER_NS &&
		__atomic_compare_exchange_n(
			last, &before_ns, now_ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return read_between(regions);
	return observe_is_due(member, now_ns) && read_between(regions);
}

/* Adds the cost of this call of begin or end, which began at @called_ns. */
static void note_cost(struct regions *regions, const struct passage *passage, bool took_reading,
	uint64_t called_ns)
{
	if (took_reading || passage->is_timed)
		cost_add(regions->team.table, regions->team.member.slot, took_reading,
			clock_now_ns() - called_ns);
}

/* --- begin and end --- */

static int check_membership(const struct regions *regions)
{
	return member_is_one(&regions->team.member) ? 0 : member_say_none();
}

/* The reading may take long, and is not part of the passage. */
static int open_region(struct regions *regions, struct passage *passage, bool *ret_took_reading)
{
	_cleanup_(reading_done) struct reading reading = { .meter = &regions->meter };
	struct member *member = &regions->team.member;
	struct region *region = passage->region;
	int r = check_membership(regions);

	if (r == 0)
		r = stretch_enter(member, region->index, &reading);
	stretch_advance_others(member, region->index, &reading, false);
	passage->begun_ns = clock_now_ns();
	pthread_mutex_lock(&region->lock);
	cell_begin_anew(own_cell(regions, region), passage->entered_ns, passage->begun_ns);
	if (r < 0)
		failure_keep(&region->failure, r);
	pthread_mutex_unlock(&region->lock);
	*ret_took_reading = reading.is_taken;
	return r;
}

/* A thread inside @outer begins a region inside it. */
static void begin_inside(struct regions *regions, struct region *outer, uint64_t now_ns)
{
	const struct team *team = &regions->team;

	pthread_mutex_lock(&outer->lock);
	nest_begin(team->table, team->member.slot, outer->index, now_ns);
	pthread_mutex_unlock(&outer->lock);
}

static void end_inside(struct regions *regions, const struct passage *passage, uint64_t now_ns)
{
	const struct team *team = &regions->team;

	pthread_mutex_lock(&passage->outer->lock);
	nest_end(
		team->table, team->member.slot, passage->outer->index, passage->entered_ns, now_ns);
	pthread_mutex_unlock(&passage->outer->lock);
}

int passage_begin(
	struct regions *regions, struct region *region, struct region *outer, struct passage *ret)
{
	const uint64_t now_ns = clock_now_ns();
	bool took_reading = false;

	*ret = (struct passage){
		.region = region, .outer = outer, .entered_ns = now_ns, .begun_ns = now_ns
	};
	if (outer)
		begin_inside(regions, outer, now_ns);
	WITH_CELL(regions, region, cell_begin, now_ns);
	ret->is_timed = cost_is_timed(cell_count_ended(own_cell(regions, region)));
	if (!stretch_is_held(regions->team.table, region->index))
		ret->error = open_region(regions, ret, &took_reading);
	took_reading |= look_around(regions, now_ns);
	note_cost(regions, ret, took_reading, now_ns);
	return ret->error;
}

static int leave(struct regions *regions, const struct region *region, uint64_t time_ns,
	bool *ret_took_reading)
{
	_cleanup_(reading_done) struct reading reading = { .meter = &regions->meter };
	int r;

	if (time_ns >= LONG_NS)
		stretch_check_holder(&regions->team.member, region->index);
	r = stretch_leave(&regions->team.member, region->index, &reading);

	stretch_advance_others(&regions->team.member, region->index, &reading, true);
	*ret_took_reading = reading.is_taken;
	return r;
}

/* Repeats the sentence of the failed begin. */
static int repeat_failure(struct region *region, int error)
{
	struct failure failure;

	pthread_mutex_lock(&region->lock);
	failure = region->failure;
	pthread_mutex_unlock(&region->lock);
	return failure.error == error ? failure_say(&failure) : error;
}

int passage_end(struct regions *regions, const struct passage *passage, uint64_t now_ns)
{
	struct region *region = passage->region;
	bool took_reading;
	int r;

	WITH_CELL(regions, region, cell_end, passage->begun_ns, now_ns);
	if (passage->outer)
		end_inside(regions, passage, now_ns);
	r = leave(regions, region, now_ns - passage->begun_ns, &took_reading);
	took_reading |= look_around(regions, now_ns);
	if (passage->error)
		r = repeat_failure(region, passage->error);
	if (r < 0)
		WITH_CELL(regions, region, cell_fail);
	note_cost(regions, passage, took_reading, now_ns);
	return r;
}

/* The passage's thread has ended, so the passage's end is not known. */
void passage_abandon(struct regions *regions, const struct passage *passage)
{
	struct region *region = passage->region;

	WITH_CELL(regions, region, cell_abandon, passage->begun_ns);
	if (passage->outer)
		end_inside(regions, passage, clock_now_ns());
	stretch_abandon(&regions->team.member, region->index);
	regions_remember(regions,
		error_say(-ECANCELED,
			"A thread ended inside region %s: that passage, and those it overlapped "
			"last, have no figures.",
			region->name));
}

bool passage_give_up(struct regions *regions, struct region *region)
{
	struct table_cell *cell = own_cell(regions, region);
	bool was_inside, took_reading;

	pthread_mutex_lock(&region->lock);
	was_inside = cell->inside > 0;
	if (was_inside)
		cell_abandon_all(cell);
	pthread_mutex_unlock(&region->lock);
	if (was_inside)
		leave(regions, region, LONG_NS, &took_reading);
	return was_inside;
}

void passage_count_thread(struct regions *regions, int change)
{
	struct team *team = &regions->team;

	__atomic_fetch_add(&team->table->slots[team->member.slot].n_threads, (uint32_t)change,
		__ATOMIC_RELAXED);
}

void passage_count_excess(struct regions *regions, struct region *region)
{
	WITH_CELL(regions, region, cell_excess);
}

int passage_work(struct regions *regions, struct region *region, double amount, const char *unit)
{
	int index = table_find_or_add_unit(regions->team.table, region->index, unit);

	if (index < 0)
		return error_say(index, "Region %s has %d units of work already, the most.",
			region->name, TABLE_UNITS);
	WITH_CELL(regions, region, cell_work, (unsigned)index, amount);
	return 0;
}
