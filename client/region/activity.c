/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/activity.h"

#include <string.h>

#include "client/region/cell.h"
#include "client/region/state.h"
#include "common/array.h"
#include "common/bounds.h"
#include "common/clock.h"
#include "common/macro.h"

struct activity_cell {
	unsigned slot, place;
	bool has_died;   /* ... inside */
	uint64_t n_most; /* threads and spans that ran there at the same time */
	struct table_cell cell;
	struct table_seen seen;
};

/* Where the member has died, its threads have left. */
static bool is_live(const struct table *table, struct activity_cell *live)
{
	const struct table_seen *seen = &table->seen[live->slot][live->place];

	cell_copy(&live->cell, &table->cells[live->slot][live->place]);
	live->seen =
		(struct table_seen){ LOAD(seen->n_left), LOAD(seen->own_ns), LOAD(seen->inside) };
	if (table_phase(table, live->slot) != TABLE_JOINED && live->cell.inside) {
		live->cell.n_left += live->cell.inside;
		live->cell.inside = 0;
		live->has_died = true;
	}
	return live->cell.inside || live->seen.inside || live->cell.n_left != live->seen.n_left;
}

static int look_at_cell(struct activities *all, const struct table *table, unsigned slot,
	unsigned place, uint64_t *n_threads)
{
	struct activity_cell live = { .slot = slot, .place = place };

	if (!is_live(table, &live))
		return 0;
	live.n_most = most_of(1, live.cell.inside + live.cell.n_left - live.seen.n_left);
	if (place == TABLE_OUTSIDE)
		*n_threads = live.n_most;
	else if (!LOAD(table->regions[place].has_spans)) /* a thread's passages follow each other */
		live.n_most = least_of(live.n_most, *n_threads);
	if (array_room(&all->cells, all->n_cells, sizeof live) < 0)
		return -1;
	all->cells[all->n_cells++] = live;
	return 0;
}

static int look_at_slot(struct activities *all, const struct table *table, unsigned slot)
{
	uint64_t n_threads = 1;
	int r = look_at_cell(all, table, slot, TABLE_OUTSIDE, &n_threads);

	for (unsigned w = 0; w < ARRAY_SIZE(table->slots[slot].used) && r == 0; w++)
		for (uint64_t bits = LOAD(table->slots[slot].used[w]); bits && r == 0;
			bits &= bits - 1) {
			const unsigned place = w * 64 + (unsigned)__builtin_ctzll(bits);
			unsigned number;

			if (place < TABLE_REGIONS_MAX && state_find_row(table, place, &number) < 0)
				r = look_at_cell(all, table, slot, place, &n_threads);
		}
	return r;
}

bool activities_look(struct activities *all, const struct table *table)
{
	const unsigned n_slots = table_count_slots(table);
	int r = 0;

	all->n_cells = 0;
	for (unsigned i = 0; i < n_slots && r == 0; i++)
		if (table_has_member(table, i))
			r = look_at_slot(all, table, i);
	return r == 0;
}

/* Of how many passages that have ended may a part, or all, have been after the last reading? Of two
 * or more it is only known when the last one began. */
static uint64_t count_rest(const struct table *table, const struct activity_cell *live)
{
	if (live->cell.inside || live->has_died ||
		live->cell.stopped_ns <= LOAD(table->header.ended_from_ns))
		return 0;
	return least_of(live->cell.n_left - live->seen.n_left, 2);
}

/* Cells are looked at later than the reading was taken: a passage that came and went in between
 * belongs to the next interval. */
void activities_keep(const struct activities *all, struct table *table)
{
	for (size_t i = 0; i < all->n_cells; i++) {
		const struct activity_cell *live = &all->cells[i];
		struct table_seen *seen = &table->seen[live->slot][live->place];

		STORE(seen->own_ns, live->seen.own_ns);
		STORE(seen->n_left, live->cell.n_left - count_rest(table, live));
		STORE(seen->inside, live->cell.inside);
	}
}

/* --- what they did in an interval --- */

/*
 * May a thread have been inside between @from_ns and @to_ns? The cell has the times of the last
 * stretch of its member. Of earlier ones it is known that they ended before the last one did, and
 * that there was none if only one passage has ended.
 */
static bool was_inside(const struct activity_cell *live, uint64_t from_ns, uint64_t to_ns)
{
	const struct table_cell *cell = &live->cell;
	const uint64_t n_left = cell->n_left - live->seen.n_left;
	const bool is_only = !live->seen.inside && n_left == 1 && !cell->inside;

	if ((cell->inside || live->has_died) && cell->opened_ns < to_ns)
		return true;
	if (!live->seen.inside && !n_left)
		return false;
	return cell->stopped_ns > from_ns && (!is_only || cell->opened_ns < to_ns);
}

/* A thread that came or went just after the end is counted then. */
static uint64_t take_own_ns(struct activity_cell *live, uint64_t from_ns, uint64_t to_ns)
{
	const uint64_t passed_ns = cell_own_ns(&live->cell, to_ns) - live->seen.own_ns;
	uint64_t own_ns = (int64_t)passed_ns < 0 ? 0 : passed_ns;

	if (from_ns)
		own_ns = least_of(own_ns, (to_ns - from_ns) * live->n_most);
	live->seen.own_ns += own_ns;
	return own_ns;
}

static uint64_t passages_ns(const struct activity_cell *live, uint64_t n)
{
	return live->cell.n_left ? live->cell.time_ns / live->cell.n_left * n : 0;
}

/* How long passages were open. Those that have ended took as long as the cell's do in the mean. */
static uint64_t find_open_ns(const struct activity_cell *live, uint64_t from_ns, uint64_t to_ns)
{
	const bool is_open = live->cell.inside || live->has_died;
	const uint64_t since_ns = is_open ? most_of(from_ns, live->cell.opened_ns) : to_ns;

	return to_ns - least_of(to_ns, since_ns) +
	       passages_ns(live, live->cell.n_left - live->seen.n_left);
}

static bool may_have_run(
	const struct activity_cell *live, uint64_t own_ns, const struct activity_window *window)
{
	const uint64_t rest_ns = cell_own_ns(&live->cell, window->end_ns) - live->seen.own_ns;

	return own_ns || (int64_t)rest_ns > 0 || live->cell.stopped_ns > window->begin_ns;
}

static void add_activity(
	struct activity *place, struct activity_cell *live, const struct activity_window *window)
{
	const uint64_t own_ns = take_own_ns(live, window->from_ns, window->to_ns);

	place->own_ns += own_ns;
	place->has_run |= may_have_run(live, own_ns, window);
	place->open_ns += find_open_ns(live, window->from_ns, window->to_ns);
	place->is_open = true;
}

void activities_in(struct activities *all, unsigned n_regions, const struct activity_window *window)
{
	memset(all->places, 0, n_regions * sizeof *all->places);
	all->places[TABLE_OUTSIDE] = (struct activity){ .own_ns = 0 };
	for (size_t i = 0; i < all->n_cells; i++) {
		struct activity_cell *live = &all->cells[i];

		if (live->place >= n_regions && live->place != TABLE_OUTSIDE)
			continue; /* it is newer */
		if (!was_inside(live, window->begin_ns, window->end_ns))
			continue;
		if (all->is_late)
			live->seen.own_ns = cell_own_ns(&live->cell, window->from_ns);
		add_activity(&all->places[live->place], live, window);
	}
}

/* --- what is not in the sums --- */

static uint64_t unread_of(const struct table *table, unsigned slot, unsigned place, uint64_t now_ns)
{
	struct activity_cell live = { .slot = slot, .place = place };
	const uint64_t ended_ns = LOAD(table->header.ended_from_ns);
	uint64_t from_ns, to_ns, n_earlier;
	bool is_open;

	if (!is_live(table, &live))
		return 0;
	is_open = live.cell.inside || live.has_died;
	from_ns = most_of(ended_ns, live.cell.opened_ns);
	to_ns = is_open ? now_ns : least_of(live.cell.stopped_ns, now_ns);
	if (to_ns <= from_ns)
		return 0;
	n_earlier = live.cell.n_left - live.seen.n_left - !is_open;
	return least_of(to_ns - from_ns + passages_ns(&live, n_earlier), now_ns - ended_ns);
}

uint64_t activity_unread_ns(const struct table *table, unsigned place, uint64_t now_ns)
{
	const unsigned n_slots = table_count_slots(table);
	uint64_t longest_ns = 0;

	for (unsigned i = 0; i < n_slots; i++)
		if (table_has_member(table, i) && table_has_cell(table, i, place))
			longest_ns = most_of(longest_ns, unread_of(table, i, place, now_ns));
	return longest_ns;
}

bool activity_is_unread(const struct table *table)
{
	const unsigned n_regions = table_count_regions(table);
	const uint64_t now_ns = clock_now_ns();

	for (unsigned i = 0; i < n_regions; i++)
		if (activity_unread_ns(table, i, now_ns))
			return true;
	return false;
}
