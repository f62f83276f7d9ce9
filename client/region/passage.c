/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/passage.h"

#include <errno.h>
#include <fenv.h>

#include "client/region/activity.h"
#include "client/region/cell.h"
#include "client/region/interval.h"
#include "client/region/pace.h"
#include "common/clock.h"

static struct table_cell *own_cell(const struct regions *regions, unsigned place)
{
	return &regions->team.table->cells[regions->team.member.slot][place];
}

static struct table_work *own_work(const struct regions *regions, const struct region *region)
{
	return &regions->team.table->works[regions->team.member.slot][region->index];
}

/* --- readings --- */

static int passage_read_and_add(struct regions *regions)
{
	const struct table_header *header = &regions->team.table->header;
	_cleanup_(readout_done) struct readout readout = { .n_sockets = 0 };
	int r = member_check(&regions->team.member);

	if (r == 0)
		r = meter_read(&regions->meter, &readout);
	if (r < 0)
		return r;
	interval_add(&regions->team.member, &readout);
	if (regions->trace)
		trace_counts(
			regions->trace, &readout, header->names, header->units, header->n_metrics);
	return 0;
}

/* Adds a reading to the table. Errors of meter_read(); -EBADF: the program closed the descriptor.
 * What it does with floating-point numbers is not to be seen in the program's flags, nor may it
 * trap. */
static int passage_read(struct regions *regions)
{
	_keeps_running_;
	fenv_t floating;
	const bool holds = feholdexcept(&floating) == 0;
	const int r = passage_read_and_add(regions);

	if (holds)
		fesetenv(&floating);
	return r;
}

void passage_read_rest(struct regions *regions)
{
	_keeps_running_;

	if (activity_is_unread(regions->team.table))
		passage_read(regions);
	interval_finish(&regions->team.member);
}

/* Those that died are in no state any more. */
static void look_around(struct regions *regions, uint64_t now_ns)
{
	if (!member_should_look(&regions->team.member, now_ns))
		return;
	member_look_for_dead(&regions->team.member);
	state_recount_all(regions->team.table);
}

/* --- edges --- */

/* A call of begin or end. */
struct edge {
	uint64_t called_ns;
	uint64_t at_ns; /* a thread that comes or goes does so then, for the sums */
	bool is_read, is_timed;
	bool is_leaving; /* the thread is among .n_leaving of the region */
	int error;       /* of the reading */
};

static struct edge edge_read(struct regions *regions, uint64_t called_ns, bool is_wanted)
{
	struct edge edge = { .called_ns = called_ns, .at_ns = called_ns };

	look_around(regions, called_ns);
	if (!is_wanted)
		return edge;
	edge.is_read = true;
	edge.error = passage_read(regions);
	if (edge.error == 0)
		edge.at_ns = interval_edge_ns(regions->team.table, called_ns);
	return edge;
}

/* Adds the cost of the call. */
static void note_cost(struct regions *regions, const struct edge *edge)
{
	struct table_slot *own = &regions->team.table->slots[regions->team.member.slot];
	uint64_t time_ns;

	if (!edge->is_read && !edge->is_timed)
		return;
	time_ns = clock_now_ns() - edge->called_ns;
	cost_add(edge->is_read ? &own->reading : &own->other, time_ns);
	if (edge->is_read)
		pace_add_cost(regions->team.table, time_ns);
}

/* --- begin --- */

/* A thread inside @outer begins another region, or is back from it. */
static void change_outer(
	struct regions *regions, struct region *outer, int change, const struct edge *edge)
{
	if (!outer)
		return;
	pthread_mutex_lock(&outer->lock);
	cell_run(own_cell(regions, outer->index), change, edge->called_ns, edge->at_ns);
	pthread_mutex_unlock(&outer->lock);
}

static uint64_t passage_count_anew(const struct regions *regions)
{
	return LOAD(regions->team.table->header.n_anew);
}

/* The time of a reading is not part of the passage. */
static void come_in(struct regions *regions, struct edge *edge, struct passage *passage)
{
	struct region *region = passage->region;
	struct table_cell *cell = own_cell(regions, region->index);

	passage->begun_ns = edge->is_read ? clock_now_ns() : edge->called_ns;
	passage->error = edge->error;
	passage->n_anew = passage_count_anew(regions);
	pthread_mutex_lock(&region->lock);
	edge->is_timed = passage->is_timed = cost_is_timed(cell->n_left);
	passage->n_given_up = region->n_given_up;
	cell_begin(cell, passage->begun_ns, edge->at_ns);
	if (edge->error)
		failure_keep(&region->failure, edge->error);
	pthread_mutex_unlock(&region->lock);
}

/* --- end --- */

/* Repeats the sentence of the failed begin. */
static int repeat_failure(struct region *region, int error)
{
	struct failure failure;

	pthread_mutex_lock(&region->lock);
	failure = region->failure;
	pthread_mutex_unlock(&region->lock);
	return failure.error == error ? failure_say(&failure) : error;
}

static void learn(struct region *region, uint64_t time_ns)
{
	STORE(region->usual_ns, pace_learn(region->usual_ns, time_ns));
	STORE(region->last_ns, time_ns);
}

/* Not if the passage was given up, by a process that exits beside its thread. */
static void go_out(
	struct regions *regions, const struct passage *passage, const struct edge *edge, int error)
{
	struct region *region = passage->region;

	pthread_mutex_lock(&region->lock);
	region->n_leaving -= edge->is_leaving;
	if (passage->n_given_up == region->n_given_up)
		cell_end(own_cell(regions, region->index), passage->begun_ns, edge->called_ns,
			edge->at_ns);
	learn(region, edge->called_ns - passage->begun_ns);
	if (error)
		ADD(own_work(regions, region)->n_failed, 1);
	pthread_mutex_unlock(&region->lock);
}

/* 0; the error of the begin, or of this end; -ESTALE: uncored began to count anew meanwhile. */
static int passage_error(
	const struct regions *regions, const struct passage *passage, const struct edge *edge)
{
	if (passage->error)
		return repeat_failure(passage->region, passage->error);
	return edge->error                                      ? edge->error
	       : passage->n_anew != passage_count_anew(regions) ? delta_stale()
								: 0;
}

/* --- both --- */

static bool region_is_long(struct regions *regions, const struct region *region, uint64_t now_ns)
{
	return region && pace_is_long(regions->team.table, LOAD(region->usual_ns),
				 LOAD(region->last_ns), now_ns);
}

/* Is no other member in the region? */
static bool is_only(const struct regions *regions, const struct region *region)
{
	const struct member *member = &regions->team.member;

	return table_is_only(member->table, member->slot, region->index);
}

/* From here on the thread is about to leave. Does no other one of the team stay in the region? */
static bool begin_leaving(struct regions *regions, struct region *region)
{
	bool is_last;

	pthread_mutex_lock(&region->lock);
	region->n_leaving++;
	is_last = own_cell(regions, region->index)->inside <= region->n_leaving;
	pthread_mutex_unlock(&region->lock);
	return is_last && is_only(regions, region);
}

/* Is the thread the first one of the team in a region whose passages are long? */
static bool opens(struct regions *regions, const struct region *region, uint64_t now_ns)
{
	return region_is_long(regions, region, now_ns) &&
	       !LOAD(own_cell(regions, region->index)->inside) && is_only(regions, region);
}

/* A region whose passages are long is read at the edges of the time in which it is open. */
int passage_cross(
	struct regions *regions, struct passage *passage, struct region *next, uint64_t now_ns)
{
	struct region *old = passage->region, *outer = passage->outer;
	const bool is_leaving = region_is_long(regions, old, now_ns);
	struct edge edge = edge_read(regions, now_ns,
		(is_leaving && begin_leaving(regions, old)) || opens(regions, next, now_ns) ||
			pace_is_due(regions->team.table, now_ns));
	int r = 0;

	if (old) {
		r = passage_error(regions, passage, &edge);
		edge.is_leaving = is_leaving;
		edge.is_timed = passage->is_timed;
		go_out(regions, passage, &edge, r);
	}
	if (!old || !next)
		change_outer(regions, outer, next ? -1 : 1, &edge);
	if (next) {
		*passage = (struct passage){ .region = next, .outer = outer };
		come_in(regions, &edge, passage);
		r = r < 0 ? r : passage->error;
	}
	note_cost(regions, &edge);
	return r;
}

/* --- states --- */

/* The first and the last change of a process are always read: nothing else says what it moved. */
static bool turn_is_read(struct table *table, const struct state_turn *turn)
{
	return turn->before == UNCORE_STATE_LEFT || turn->now == UNCORE_STATE_LEFT ||
	       !pace_is_overspent(table, turn->now_ns) || pace_is_due(table, turn->now_ns);
}

int passage_turn(struct regions *regions, struct state_turn *turn)
{
	struct table *table = regions->team.table;
	const unsigned slot = regions->team.member.slot;
	struct edge edge;

	turn->now_ns = clock_now_ns();
	edge = edge_read(
		regions, turn->now_ns, state_turns_class(turn) && turn_is_read(table, turn));
	edge.is_timed = cost_is_timed(own_cell(regions, turn->first)->n_left);
	turn->now_ns = edge.at_ns;
	turn->left_ns = edge.called_ns;
	turn->came_ns = edge.is_read ? clock_now_ns() : edge.called_ns;
	state_turn(table->cells[slot], turn);
	if (edge.error)
		table->works[slot][turn->first].n_failed++;
	note_cost(regions, &edge);
	return edge.error;
}

/* --- what has no end --- */

/* The passage's thread has ended, so the passage's end is not known. */
void passage_abandon(struct regions *regions, const struct passage *passage)
{
	struct region *region = passage->region;
	const uint64_t now_ns = clock_now_ns();
	const struct edge edge = { .called_ns = now_ns, .at_ns = now_ns };

	pthread_mutex_lock(&region->lock);
	if (passage->n_given_up == region->n_given_up) {
		cell_abandon(own_cell(regions, region->index), passage->begun_ns, now_ns);
		ADD(own_work(regions, region)->n_abandoned, 1);
	}
	pthread_mutex_unlock(&region->lock);
	change_outer(regions, passage->outer, 1, &edge);
	regions_remember(regions,
		error_say(-ECANCELED, "A thread ended inside region %s: that passage has no time.",
			region->name));
}

bool passage_give_up(struct regions *regions, struct region *region)
{
	uint32_t n;

	pthread_mutex_lock(&region->lock);
	n = cell_abandon_all(own_cell(regions, region->index), clock_now_ns());
	ADD(own_work(regions, region)->n_abandoned, n);
	region->n_given_up += n > 0;
	pthread_mutex_unlock(&region->lock);
	return n > 0;
}

/* --- counts --- */

void passage_count_thread(struct regions *regions, int change)
{
	struct table_cell *cell = own_cell(regions, TABLE_OUTSIDE);
	const uint64_t now_ns = clock_now_ns();

	pthread_mutex_lock(&regions->lock);
	if (change > 0)
		cell_begin(cell, now_ns, now_ns);
	else
		cell_abandon(cell, 0, now_ns);
	pthread_mutex_unlock(&regions->lock);
}

void passage_count_excess(struct regions *regions, struct region *region)
{
	pthread_mutex_lock(&region->lock);
	cell_excess(own_cell(regions, region->index));
	ADD(own_work(regions, region)->n_failed, 1);
	pthread_mutex_unlock(&region->lock);
}

int passage_work(struct regions *regions, struct region *region, double amount, const char *unit)
{
	int index = table_find_or_add_unit(regions->team.table, region->index, unit);
	double *work, sum;

	if (index < 0)
		return error_say(index, "Region %s has %d units of work already, the most.",
			region->name, TABLE_UNITS);
	pthread_mutex_lock(&region->lock);
	work = &own_work(regions, region)->work[index];
	sum = *work + amount;
	__atomic_store(work, &sum, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&region->lock);
	return 0;
}
