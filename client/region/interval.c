/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/interval.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/libuncore/internal.h"
#include "client/region/activity.h"
#include "client/region/post.h"
#include "client/region/state.h"
#include "client/region/sums.h"
#include "common/bounds.h"
#include "common/clock.h"
#include "common/macro.h"

enum { OUTSIDE_MOST = 100 }; /* of an interval that a region has alone: one part in so many */

static const uint64_t FINISH_WITHIN_NS = 10000000000;

/* --- one member adds at a time --- */

static bool become_adder(const struct member *member)
{
	const uint64_t own = member_claim(member);
	uint64_t *adder = &member->table->header.adder, other = 0;

	if (REPLACE(*adder, other, own))
		return true;
	return other != own && !member_holds_claim(member, other) && REPLACE(*adder, other, own);
}

static void end_adding(const struct member *member)
{
	uint64_t own = member_claim(member);

	REPLACE(member->table->header.adder, own, 0);
}

struct interval_room {
	struct activities activities;
	struct table_interval interval;
};

/* --- parts --- */

static struct table_part *add_part(struct table_interval *interval, unsigned place)
{
	struct table_part *part = &interval->parts[interval->n_parts++];

	*part = (struct table_part){ .place = (uint16_t)place };
	return part;
}

static void add_region_part(
	struct table_interval *interval, unsigned place, const struct activity *activity)
{
	struct table_part *part = add_part(interval, place);

	part->is_open = true;
	part->is_alone = activity->has_run; /* so far */
	part->own_ns = activity->own_ns;
	part->open_ns = least_of(activity->open_ns, interval->to.at_ns - interval->from_ns);
}

/* Time in regions, of threads that are in no other meanwhile. */
static uint64_t find_threads_own_ns(
	const struct table *table, const struct table_interval *interval)
{
	uint64_t own_ns = 0;

	for (uint32_t i = 0; i < interval->n_parts; i++)
		if (!LOAD(table->regions[interval->parts[i].place].has_spans))
			own_ns += interval->parts[i].own_ns;
	return own_ns;
}

/* Threads that are in no region. Spans belong to no thread, so regions may have more than all. But
 * a thread may be outside of all beside them. */
static void add_outside_part(const struct table *table, struct table_interval *interval,
	uint64_t threads_ns, uint64_t own_ns)
{
	const bool is_beside = threads_ns > find_threads_own_ns(table, interval);
	struct table_part *part = add_part(interval, TABLE_OUTSIDE);

	interval->total_ns = most_of(threads_ns, own_ns);
	part->own_ns = interval->total_ns - own_ns;
	if (!interval->total_ns) /* nobody is known to have moved anything */
		part->own_ns = interval->total_ns = 1;
	part->is_open = part->own_ns > 0 || is_beside;
}

/* The parts follow each other in the bytes of the interval. A part is alone so far if a thread may
 * have run there. The thread that began a span is outside of it, and may move bytes of its own. */
static void divide(
	const struct table *table, struct table_interval *interval, uint64_t own_ns, bool is_late)
{
	const uint64_t outside_ns = interval->total_ns - own_ns;
	uint64_t before_ns = 0;
	uint32_t n_run = 0;

	for (uint32_t i = 0; i < interval->n_parts; i++)
		n_run += interval->parts[i].is_alone;
	for (uint32_t i = 0; i < interval->n_parts; i++) {
		struct table_part *part = &interval->parts[i];

		part->is_alone = part->is_alone && n_run == 1 && own_ns && !is_late &&
				 outside_ns <= interval->total_ns / OUTSIDE_MOST &&
				 !LOAD(table->regions[part->place].has_spans);
		part->before_ns = before_ns;
		part->total_ns = interval->total_ns;
		before_ns += part->own_ns;
	}
}

/* How long a row was open, by the readings at both ends. Negative: it was taken for open at the end
 * of an earlier interval, by a reading between another one and the change that this one is of. */
static int64_t row_ns(const struct table_interval *interval, const struct table_post *last,
	unsigned number, int row)
{
	return (int64_t)(interval->to.rows_ns[number][row] -
			 (last ? last->rows_ns[number][row] : 0));
}

/* What was too much for another row was too little for this one, and not in this interval. */
static uint64_t own_row_ns(const struct table_interval *interval, const struct table_post *last,
	unsigned number, int row)
{
	const int64_t time_ns = (int64_t)(interval->to.at_ns - interval->from_ns);
	int64_t own_ns = row_ns(interval, last, number, row);

	if (last && own_ns >= time_ns)
		return (uint64_t)time_ns;
	for (int other = 0; other < STATE_ROWS; other++) {
		const int64_t other_ns = row_ns(interval, last, number, other);

		if (!(state_rows[other].classes & state_rows[row].classes) && other_ns < 0)
			own_ns += other_ns;
	}
	return own_ns > 0 ? (uint64_t)own_ns : 0;
}

/* @last: the reading before; NULL: there was none. */
static void add_row_part(const struct table *table, struct table_interval *interval, unsigned place,
	const struct table_post *last)
{
	unsigned number;
	const int row = state_find_row(table, place, &number);
	const uint64_t own_ns = row < 0 ? 0 : own_row_ns(interval, last, number, row);
	const uint64_t time_ns = interval->to.at_ns - interval->from_ns;
	struct table_part *part;

	if (!own_ns)
		return;
	part = add_part(interval, place);
	part->is_open = true;
	part->own_ns = part->open_ns = own_ns;
	part->is_alone = own_ns == time_ns;
	part->total_ns = time_ns;
}

static void fill_parts(
	struct interval_room *room, struct table *table, const struct table_post *last)
{
	struct table_interval *interval = &room->interval;
	const unsigned n_regions = table_count_regions(table);
	const struct activity_window window = { last ? last->begin_ns : 0, interval->from_ns,
		interval->to.at_ns, interval->to.end_ns };
	uint64_t own_ns = 0;

	activities_in(&room->activities, n_regions, &window);
	interval->n_parts = 0;
	for (unsigned i = 0; i < n_regions; i++)
		if (room->activities.places[i].is_open) {
			add_region_part(interval, i, &room->activities.places[i]);
			own_ns += room->activities.places[i].own_ns;
		}
	add_outside_part(table, interval, room->activities.places[TABLE_OUTSIDE].own_ns, own_ns);
	divide(table, interval, own_ns, room->activities.is_late);
	for (unsigned i = 0; i < n_regions; i++)
		add_row_part(table, interval, i, last);
}

/* --- intervals --- */

/* The memory of a table holds two, by the last bit of their number. */
static void copy_interval(struct table_interval *to, const struct table_interval *from)
{
	const uint32_t n_parts = (uint32_t)least_of(LOAD(from->n_parts), TABLE_PLACES);
	const uint32_t n_known = (uint32_t)least_of(LOAD(from->n_sockets), PAGE_SOCKETS_MAX);
	const uint32_t n_sockets = (uint32_t)least_of(LOAD(from->to.n_sockets), PAGE_SOCKETS_MAX);

	table_copy(to, from, offsetof(struct table_interval, moved));
	table_copy(to->moved, from->moved, n_known * sizeof *to->moved);
	table_copy(&to->to, &from->to, offsetof(struct table_post, sockets));
	table_copy(to->to.sockets, from->to.sockets, n_sockets * sizeof *to->to.sockets);
	table_copy(to->parts, from->parts, n_parts * sizeof *to->parts);
	STORE(to->n_parts, n_parts);
	STORE(to->n_sockets, n_known);
	STORE(to->to.n_sockets, n_sockets);
}

static struct table_interval *interval_at(struct table *table, uint64_t number)
{
	return &table->intervals[number % 2];
}

/* Adds the interval to the sums. */
static void add_to_sums(struct table *table, uint64_t number, const struct table_interval *interval)
{
	for (uint32_t i = 0; i < interval->n_parts; i++)
		if (interval->parts[i].place < TABLE_PLACES)
			sums_add(&table->sums[interval->parts[i].place], number, interval,
				&interval->parts[i]);
	STORE(table->header.ended_from_ns, interval->to.begin_ns);
	STORE(table->header.ended_at_ns, interval->to.at_ns);
	__atomic_store_n(&table->header.added, number, __ATOMIC_RELEASE);
}

/* A member was killed while it added this interval. */
static void add_planned(struct interval_room *room, struct table *table)
{
	const uint64_t planned = LOAD(table->header.planned);

	if (planned != LOAD(table->header.added) + 1)
		return;
	copy_interval(&room->interval, interval_at(table, planned));
	add_to_sums(table, planned, &room->interval);
}

/* Has uncored begun to count anew? Then what moved is not known. */
static bool is_anew(const struct table_post *from, const struct table_post *to)
{
	return to->n_sockets > from->n_sockets ||
	       memcmp(from->sockets[0].generation, to->sockets[0].generation,
		       sizeof to->sockets[0].generation) != 0;
}

/* Readings of several members overlap. Of a socket that this one swept earlier than the last one,
 * the interval ends where the last one did: nothing is added twice. */
static void subtract_socket(struct uncore_delta *ret, const struct uncore_sample *last,
	struct table_post *post, uint32_t s)
{
	struct uncore_sample *to = &post->sockets[s];

	*ret = (struct uncore_delta){ .n_values = 0 };
	if (last->sweep && to->sweep > last->sweep)
		delta_fill(last, to, ret);
	if (to->sweep >= last->sweep)
		return;
	*to = *last;
	post->begin_ns = least_of(post->begin_ns, to->begin_ns);
	post->end_ns = most_of(post->end_ns, to->end_ns);
}

/* Draws up the interval that ends with .to. @last: the reading before; NULL: there was none. */
static void draw_up(struct interval_room *room, struct table *table, const struct table_post *last)
{
	struct table_interval *interval = &room->interval;

	interval->from_ns = last ? last->at_ns : 0;
	interval->n_sockets = last && !is_anew(last, &interval->to) ? (uint32_t)last->n_sockets : 0;
	for (uint32_t s = 0; s < interval->n_sockets && s < PAGE_SOCKETS_MAX; s++)
		subtract_socket(&interval->moved[s], &last->sockets[s], &interval->to, s);
	fill_parts(room, table, last);
}

/* Adds the interval that ends with .to. */
static void add_interval(struct interval_room *room, struct table *table)
{
	const uint64_t added = LOAD(table->header.added), number = added + 1;
	const struct table_post *last = added ? &interval_at(table, added)->to : NULL;

	draw_up(room, table, last);
	copy_interval(interval_at(table, number), &room->interval);
	__atomic_store_n(&table->header.planned, number, __ATOMIC_RELEASE);
	STORE(table->header.n_anew,
		LOAD(table->header.n_anew) + (last && !room->interval.n_sockets));
	add_to_sums(table, number, &room->interval);
	room->activities.is_late = false;
}

static void add_posts(struct interval_room *room, struct table *table, const struct posts *posts)
{
	const uint64_t *ended_ns = &table->header.ended_at_ns;

	for (int i = 0; i < TABLE_POSTS; i++)
		if (post_take(posts, table, LOAD(*ended_ns), &room->interval.to))
			add_interval(room, table);
}

/* The cells are looked at after the posts: they say what was until then. */
static void interval_add_all(struct interval_room *room, struct table *table)
{
	struct table_header *header = &table->header;
	const uint64_t n_posts = __atomic_load_n(&header->n_posts, __ATOMIC_SEQ_CST);
	struct posts posts;

	post_look(&posts, table);
	add_planned(room, table);
	room->activities.is_late = LOAD(header->seen_of) != LOAD(header->added);
	if (activities_look(&room->activities, table)) {
		add_posts(room, table, &posts);
		activities_keep(&room->activities, table);
		STORE(header->seen_of, LOAD(header->added));
	}
	__atomic_store_n(&header->n_taken, n_posts, __ATOMIC_SEQ_CST);
}

static bool has_posts(const struct table *table)
{
	return __atomic_load_n(&table->header.n_posts, __ATOMIC_SEQ_CST) !=
	       __atomic_load_n(&table->header.n_taken, __ATOMIC_SEQ_CST);
}

static void add_what_waits(struct member *member)
{
	struct table *table = member->table;

	while (has_posts(table) && member_has_slot(member) && become_adder(member)) {
		if (!member->room)
			member->room = calloc(1, sizeof *member->room);
		if (member->room)
			interval_add_all(member->room, table);
		end_adding(member);
		if (!member->room)
			return;
	}
}

void interval_add(struct member *member, const struct readout *readout)
{
	STORE(member->table->header.last_reading_ns, clock_now_ns());
	add_what_waits(member); /* so that there is room */
	post(member, readout);
	add_what_waits(member);
}

void interval_finish(struct member *member)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	const uint64_t deadline_ns = clock_deadline_ns(FINISH_WITHIN_NS);

	while (add_what_waits(member), has_posts(member->table) && clock_now_ns() < deadline_ns)
		nanosleep(&pause, NULL);
}

void interval_done(struct member *member)
{
	if (member->room)
		free(member->room->activities.cells);
	free(take_ptr(member->room));
}

uint64_t interval_edge_ns(const struct table *table, uint64_t since_ns)
{
	return most_of(LOAD(table->header.ended_at_ns), since_ns);
}
