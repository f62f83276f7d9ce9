/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/passage.h"

#include <errno.h>

#include "client/region/alone.h"
#include "client/region/cell.h"
#include "client/region/cost.h"
#include "client/region/observe.h"
#include "client/region/stretch.h"
#include "client/region/window.h"
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
#define WITH_CELL_IF(condition, regions, region, function, ...)                                    \
	do {                                                                                       \
		pthread_mutex_lock(&(region)->lock);                                               \
		if (condition)                                                                     \
			function(own_cell(regions, region), ##__VA_ARGS__);                        \
		pthread_mutex_unlock(&(region)->lock);                                             \
	} while (0)

#define WITH_CELL(regions, region, ...) WITH_CELL_IF(true, regions, region, __VA_ARGS__)

/* The same, unless the passage was given up, by a process that exits beside its thread. */
#define WITH_CELL_OF(regions, passage, ...)                                                        \
	WITH_CELL_IF((passage)->region->n_given_up == (passage)->n_given_up, regions,              \
		(passage)->region, __VA_ARGS__)

/* --- at any passage --- */

/* Adds what moved until a reading to all open regions but @except. */
static void advance_others(struct regions *regions, unsigned except, const struct reading *reading)
{
	const struct table_header *header = &regions->team.table->header;

	stretch_advance_others(&regions->team.member, except, reading);
	if (regions->trace && reading->is_taken && !reading->error)
		trace_counts(regions->trace, &reading->readout, header->names, header->units,
			header->n_metrics);
}

/* Takes a reading that no stretch needs. It updates the table, and gives the estimate another
 * interval. */
static int read_between(struct regions *regions)
{
	_cleanup_(reading_done) struct reading reading = { .meter = &regions->meter,
		.edge = ALONE_NOBODY };
	int r = reading_take(&reading);

	advance_others(regions, STRETCH_ALL, &reading);
	return r;
}

void passage_end_windows(struct regions *regions)
{
	if (window_is_any(regions->team.table) && read_between(regions) < 0)
		stretch_lose_windows(&regions->team.member);
}

/* Looks for dead members and takes a reading, each if due. True: it took a reading. */
static bool look_around(struct regions *regions, uint64_t now_ns)
{
	struct member *member = &regions->team.member;
	uint64_t *last = &regions->team.table->header.last_reading_ns;
	uint64_t before_ns = __atomic_load_n(last, __ATOMIC_RELAXED);
	bool is_due;

	if (member_is_alone(member))
		return false;
	if (member_should_look(member, now_ns)) {
		member_look_for_dead(member);
		stretch_settle_dead(member, NULL);
	}
	is_due = now_ns > before_ns && now_ns - before_ns >= READ_AFTER_NS &&
		 __atomic_compare_exchange_n(
			 last, &before_ns, now_ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	if (!is_due && !observe_is_due(member, now_ns))
		return false;
	read_between(regions);
	return true;
}

/* Adds the cost of this call of begin or end, which began at @called_ns. */
static void note_cost(struct regions *regions, const struct passage *passage, bool took_reading,
	uint64_t called_ns)
{
	uint64_t time_ns;

	if (!took_reading && !passage->is_timed)
		return;
	time_ns = clock_now_ns() - called_ns;
	cost_add(regions->team.table, regions->team.member.slot, took_reading, time_ns);
	if (took_reading)
		window_add_cost(regions->team.table, time_ns);
}

/* --- begin and end --- */

/*
 * A thread of this process goes into @region, or out of it; NULL: none. During a reading the thread
 * that calls is in no region: it goes out before the reading, and in after it.
 */
static void go_in(struct regions *regions, const struct region *region)
{
	if (region)
		alone_enter(regions->team.table, regions->team.member.slot, region->index);
}

static void go_out(struct regions *regions, const struct region *region)
{
	if (region)
		alone_leave(regions->team.table, regions->team.member.slot, region->index);
}

static void keep_failure(struct region *region, int error)
{
	pthread_mutex_lock(&region->lock);
	failure_keep(&region->failure, error);
	pthread_mutex_unlock(&region->lock);
}

/* A reading may take long, and is not part of the passage. */
static int enter(struct regions *regions, struct passage *passage, struct reading *reading)
{
	struct member *member = &regions->team.member;
	struct region *region = passage->region;
	int r = stretch_check_member(member, region->index);

	if (r == 0)
		r = stretch_enter(member, region->index, passage->entered_ns, reading);
	advance_others(regions, region->index, reading);
	if (reading->is_taken) {
		passage->begun_ns = clock_now_ns();
		WITH_CELL_OF(
			regions, passage, cell_begin_anew, passage->entered_ns, passage->begun_ns);
	}
	if (r < 0)
		keep_failure(region, r);
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

static void begin(struct regions *regions, struct region *region, struct region *outer,
	uint64_t now_ns, struct passage *ret)
{
	*ret = (struct passage){
		.region = region, .outer = outer, .entered_ns = now_ns, .begun_ns = now_ns
	};
	if (outer)
		begin_inside(regions, outer, now_ns);
	pthread_mutex_lock(&region->lock);
	cell_begin(own_cell(regions, region), now_ns);
	ret->n_given_up = region->n_given_up;
	pthread_mutex_unlock(&region->lock);
	ret->is_timed = cost_is_timed(cell_count_ended(own_cell(regions, region)));
}

static bool is_held(const struct regions *regions, const struct region *region)
{
	return stretch_is_held(regions->team.table, region->index);
}

/* Enters with a reading of its own. True: it was taken. */
static bool enter_and_read(struct regions *regions, struct passage *passage)
{
	_cleanup_(reading_done) struct reading reading = { .meter = &regions->meter,
		.edge = passage->region->index };

	passage->error = enter(regions, passage, &reading);
	return reading.is_taken;
}

int passage_begin(
	struct regions *regions, struct region *region, struct region *outer, struct passage *ret)
{
	const uint64_t now_ns = clock_now_ns();
	bool took_reading;

	go_out(regions, outer);
	begin(regions, region, outer, now_ns, ret);
	took_reading = !is_held(regions, region) && enter_and_read(regions, ret);
	took_reading |= look_around(regions, now_ns);
	go_in(regions, region);
	note_cost(regions, ret, took_reading, now_ns);
	return ret->error;
}

/* At @now_ns, @time_ns after the begin of the passage. */
static int leave(struct regions *regions, const struct region *region, uint64_t now_ns,
	uint64_t time_ns, struct reading *reading)
{
	int r;

	if (time_ns >= LONG_NS)
		stretch_check_holder(&regions->team.member, region->index);
	r = stretch_leave(&regions->team.member, region->index, now_ns, reading);

	advance_others(regions, region->index, reading);
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

/* The counts of a passage that ends. 0; the error of its begin, or of its end. */
static int end(struct regions *regions, const struct passage *passage, uint64_t now_ns,
	struct reading *reading)
{
	struct region *region = passage->region;
	int r;

	go_out(regions, region);
	WITH_CELL_OF(regions, passage, cell_end, passage->begun_ns, now_ns);
	if (passage->outer)
		end_inside(regions, passage, now_ns);
	r = leave(regions, region, now_ns, now_ns - passage->begun_ns, reading);
	if (passage->error)
		r = repeat_failure(region, passage->error);
	if (r < 0)
		WITH_CELL(regions, region, cell_fail);
	return r;
}

int passage_end(struct regions *regions, const struct passage *passage, uint64_t now_ns)
{
	_cleanup_(reading_done) struct reading reading = { .meter = &regions->meter,
		.edge = (passage->outer ? passage->outer : passage->region)->index };
	const int r = end(regions, passage, now_ns, &reading);
	bool took_reading = reading.is_taken;

	took_reading |= look_around(regions, now_ns);
	go_in(regions, passage->outer);
	note_cost(regions, passage, took_reading, now_ns);
	return r;
}

/* The reading that closes the one region opens the other. */
int passage_next(struct regions *regions, struct passage *passage, struct region *next)
{
	const uint64_t now_ns = clock_now_ns();
	const struct passage ended = *passage;
	_cleanup_(reading_done) struct reading reading = { .meter = &regions->meter,
		.edge = next->index };
	int r = end(regions, &ended, now_ns, &reading);

	if (reading.error) {
		reading_done(&reading);
		reading = (struct reading){ .meter = &regions->meter, .edge = next->index };
	}
	begin(regions, next, ended.outer, now_ns, passage);
	if (!is_held(regions, next))
		passage->error = enter(regions, passage, &reading);
	go_in(regions, next);
	note_cost(regions, passage, reading.is_taken, now_ns);
	return r < 0 ? r : passage->error;
}

static int read_class(struct regions *regions, struct reading *reading)
{
	int r = member_is_one(&regions->team.member) ? reading_take(reading) : member_say_none();

	advance_others(regions, STRETCH_ALL, reading);
	return r;
}

int passage_turn(struct regions *regions, struct state_turn *turn)
{
	_cleanup_(reading_done) struct reading reading = {
		.meter = &regions->meter, .edge = ALONE_NOBODY, .turn = turn
	};
	struct table *table = regions->team.table;
	const unsigned slot = regions->team.member.slot;
	struct table_cell *cell = &table->cells[slot][turn->first];
	struct passage passage = { .is_timed = cost_is_timed(cell_count_ended(cell)) };

	turn->now_ns = clock_now_ns();
	if (cell_turn(table->cells[slot], turn)) {
		if (window_reads_class(table, turn))
			passage.error = read_class(regions, &reading);
		if (passage.error)
			cell_fail(cell);
		if (!reading.is_taken || passage.error)
			state_note_unread(turn->state);
		if (reading.is_taken && turn->now == UNCORE_STATE_ON)
			cell_begin_anew(cell, turn->now_ns, clock_now_ns());
	}
	note_cost(regions, &passage, reading.is_taken | look_around(regions, turn->now_ns),
		turn->now_ns);
	return passage.error;
}

/* The passage's thread has ended, so the passage's end is not known. */
void passage_abandon(struct regions *regions, const struct passage *passage)
{
	struct region *region = passage->region;

	go_out(regions, region);
	go_in(regions, passage->outer);
	WITH_CELL_OF(regions, passage, cell_abandon, passage->begun_ns);
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
	_cleanup_(reading_done) struct reading reading = { .meter = &regions->meter,
		.edge = region->index };
	bool was_inside;

	pthread_mutex_lock(&region->lock);
	was_inside = cell->inside > 0;
	if (was_inside) {
		cell_abandon_all(cell);
		region->n_given_up++;
	}
	pthread_mutex_unlock(&region->lock);
	/* A thread that has just gone out may not have taken its reading yet. */
	if (was_inside || stretch_is_held_by(&regions->team.member, region->index))
		leave(regions, region, clock_now_ns(), LONG_NS, &reading);
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
