/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/stretch.h"

#include <errno.h>

#include "client/region/cell.h"
#include "client/region/observe.h"
#include "client/region/step.h"
#include "client/region/window.h"
#include "common/clock.h"

/* Bounds the retries: every lost race is another member's progress, and dead members inside a
 * region are found one by one. */
enum { STEPS_MOST = 4 * TABLE_MEMBERS_MAX };

static int say_overwritten(void)
{
	return error_say(-EBADMSG,
		"The table of this team changes all the time: another program of this user writes "
		"to it.");
}

/* --- holders --- */

static bool change(struct table *table, unsigned region, const struct word *from, unsigned record,
	unsigned holder)
{
	const struct word to = { .record = record, .holder = holder };

	return word_change(table, region, from, &to);
}

/* No member is inside, but the record goes on. */
static bool make_idle(struct table *table, unsigned region, const struct word *from)
{
	const struct word to = { .record = from->record, .holder = from->holder, .is_idle = true };

	return word_change(table, region, from, &to);
}

static bool holder_is_inside(const struct table *table, unsigned region, const struct word *word)
{
	return word->holder && !word->is_closing && !word->is_idle &&
	       table_is_inside(table, word->holder - 1, region);
}

bool stretch_is_held(const struct table *table, unsigned region)
{
	const struct word word = word_of(table, region);

	return holder_is_inside(table, region, &word);
}

/* Another member that is inside, as slot + 1; 0: none. The search begins at the next slot, so that
 * the role of the holder moves around. */
static unsigned find_inside(const struct table *table, unsigned region, unsigned holder)
{
	const unsigned n = table_count_slots(table);

	for (unsigned i = 0; i < n; i++) {
		unsigned slot = (holder + i) % n;

		if (table_is_inside(table, slot, region))
			return slot + 1;
	}
	return 0;
}

/* --- entering --- */

/* Takes a reading, if it is not taken yet, and adds it to the window that goes on. */
static int read_window(
	struct member *member, unsigned region, struct reading *reading, struct step step)
{
	int r = reading_take(reading), error = 0;

	step.kind = STEP_ADDS;
	step.reading = reading;
	for (int i = 0; r == 0 && i < STEPS_MOST; i++) {
		const struct word word = word_of(member->table, region);

		step.holder = word.holder;
		step.is_idle = word.is_idle;
		r = word.holder && !word.is_closing
			    ? step_commit(member, region, &word, &step, &error)
			    : 1;
	}
	return r < 0 ? r : error;
}

/* The first member comes into a region whose window goes on. */
static int go_on(struct member *member, unsigned region, uint64_t now_ns, struct reading *reading)
{
	struct table *table = member->table;
	const struct step step = { .begins = true,
		.is_stale = window_is_stale(table, region, now_ns) };
	int r = 0;

	window_end_gap(table, region, now_ns);
	if (!window_is_used(table, region) || step.is_stale || window_is_due(table, now_ns))
		r = member_is_one(member) ? read_window(member, region, reading, step)
					  : member_say_none();
	window_enter(table, region, now_ns);
	return r;
}

int stretch_check_member(const struct member *member, unsigned region)
{
	const bool is_one = word_of(member->table, region).is_idle ? member_is_known(member)
								   : member_is_one(member);

	return is_one ? 0 : member_say_none();
}

int stretch_enter(struct member *member, unsigned region, uint64_t now_ns, struct reading *reading)
{
	struct step opening = {
		.holder = member->slot + 1, .kind = STEP_OPENS, .reading = reading
	};
	int r = 0, error = 0;

	for (int i = 0; r == 0; i++) {
		const struct word word = word_of(member->table, region);

		if (i == STEPS_MOST)
			return say_overwritten();
		if (holder_is_inside(member->table, region, &word))
			return 0;
		if (word.holder) {
			r = change(member->table, region, &word, word.record, opening.holder);
			if (r && word.is_idle)
				return go_on(member, region, now_ns, reading);
			continue;
		}
		if (!reading->is_taken) {
			r = reading_take(reading);
			continue;
		}
		window_end_gap(member->table, region, now_ns);
		window_enter(member->table, region, now_ns);
		r = step_commit(member, region, &word, &opening, &error);
	}
	return r < 0 ? r : 0;
}

/* --- leaving --- */

/* Marks the word as closing: a thread that enters after this, also of this process, changes it. 0;
 * -EBADF. */
static int begin_closing(struct member *member, unsigned region, const struct word *word)
{
	const struct word to = {
		.record = word->record, .holder = member->slot + 1, .is_closing = true
	};

	if (!member_has_slot(member))
		return member_say_none();
	word_change(member->table, region, word, &to);
	return 0;
}

/* Is a living member closing the region? It found this member outside before its reading. */
static bool other_closes(const struct member *member, const struct word *word)
{
	return word->is_closing && word->holder != member->slot + 1 &&
	       table_phase(member->table, word->holder - 1) == TABLE_JOINED &&
	       member_lives(member, word->holder - 1);
}

/* The last member leaves a region whose window goes on. */
static int go_idle(struct member *member, unsigned region, uint64_t now_ns, struct reading *reading)
{
	const struct step step = { .until_ns = 0 };
	int r;

	window_go_idle(member->table, region, now_ns);
	if (!window_is_due(member->table, now_ns))
		return 0;
	r = read_window(member, region, reading, step);
	if (r < 0 || !reading->look.is_empty || !window_wants_pair(member->table))
		return r;
	observe(member, reading);
	r = reading_renew(reading);
	return r < 0 ? r : read_window(member, region, reading, step);
}

/*
 * Makes a member that is inside the holder, or closes the region: with a reading, or as of its last
 * reading if @reading is NULL. Others may enter and leave meanwhile. So each step reads the word
 * again, and a reading is used only if the word has not changed since: it does not cover members
 * that came and went later.
 */
static int settle(struct member *member, unsigned region, uint64_t now_ns, struct reading *reading)
{
	struct table *table = member->table;
	uint64_t read_at = 0; /* the word at the reading */
	int r = 0, error = 0;

	for (int i = 0; r == 0; i++) {
		const struct word word = word_of(table, region);
		struct step closing = { .reading = reading, .kind = STEP_CLOSES };
		unsigned other;

		if (i == STEPS_MOST)
			return say_overwritten();
		if (!word.holder || word.is_idle || holder_is_inside(table, region, &word) ||
			other_closes(member, &word))
			break;
		other = find_inside(table, region, word.holder - 1);
		if (other) {
			if (member_lives(member, other - 1))
				change(table, region, &word, word.record, other);
			continue;
		}
		if (reading && !read_at && window_is_used(table, region)) {
			if (make_idle(table, region, &word))
				return go_idle(member, region, now_ns, reading);
			continue;
		}
		if (!word.is_closing || word.holder != member->slot + 1) {
			r = begin_closing(member, region, &word);
			continue;
		}
		if (reading && read_at != word.raw) {
			if (read_at)
				reading_renew(reading);
			else
				reading_take(reading);
			read_at = word.raw;
			continue;
		}
		if (reading && reading->error)
			closing.reading = NULL;
		r = step_commit(member, region, &word, &closing, &error);
		if (r == -ENOSPC) /* the record stays as it is */
			change(table, region, &word, word.record, 0);
		if (r)
			window_leave(table, region, now_ns);
	}
	if (r < 0)
		return r;
	return reading && reading->error ? reading->error : error;
}

static bool holds(const struct member *member, const struct word *word)
{
	return !word->is_idle && word->holder == member->slot + 1;
}

bool stretch_is_held_by(const struct member *member, unsigned region)
{
	const struct word word = word_of(member->table, region);

	return holds(member, &word);
}

/* Must this member settle the region? Yes if the holder is this member, or has left or died. */
static bool is_ours(const struct member *member, unsigned region)
{
	const struct word word = word_of(member->table, region);

	return holds(member, &word) ||
	       (!word.is_idle && word.holder &&
		       table_phase(member->table, word.holder - 1) != TABLE_JOINED);
}

void stretch_check_holder(const struct member *member, unsigned region)
{
	const struct word word = word_of(member->table, region);

	if (word.holder)
		member_lives(member, word.holder - 1);
}

int stretch_leave(struct member *member, unsigned region, uint64_t now_ns, struct reading *reading)
{
	return is_ours(member, region) ? settle(member, region, now_ns, reading) : 0;
}

void stretch_abandon(struct member *member, unsigned region)
{
	if (is_ours(member, region))
		settle(member, region, clock_now_ns(), NULL);
}

unsigned stretch_settle_dead(struct member *member, struct reading *reading)
{
	const unsigned n = table_count_regions(member->table);
	unsigned found = 0;

	for (unsigned i = 0; i < TABLE_STATES; i++)
		cell_recount(member->table, state_at(member->table, i));
	for (unsigned i = 0; i < n; i++) {
		const struct word word = word_of(member->table, i);

		if (!word.holder || word.is_idle ||
			table_phase(member->table, word.holder - 1) == TABLE_JOINED)
			continue;
		settle(member, i, reading_now_ns(reading), reading);
		found++;
	}
	return found;
}

void stretch_settle_former(struct member *member)
{
	const unsigned n = table_count_regions(member->table);

	for (unsigned i = 0; i < n; i++)
		if (word_of(member->table, i).holder == member->slot + 1)
			settle(member, i, clock_now_ns(), NULL);
}

/* --- the others --- */

/* A row of a state is idle from its first reading on. */
static void advance_row(struct member *member, unsigned row, const struct reading *reading)
{
	int r = 0, error;

	for (int i = 0; r == 0 && i < STEPS_MOST; i++) {
		const struct word word = word_of(member->table, row);
		const struct step step = { .holder = member->slot + 1,
			.is_idle = true,
			.kind = word.record ? STEP_ADDS : STEP_OPENS,
			.reading = reading };

		r = step_commit(member, row, &word, &step, &error);
	}
}

/*
 * Skips a region whose holder is leaving: the holder closes it. Closes one with a dead holder as of
 * its last reading. Members that change the region now have a reading of their own.
 */
static void advance(struct member *member, unsigned region, const struct reading *reading)
{
	const struct word word = word_of(member->table, region);
	const struct step step = { .holder = word.holder,
		.is_idle = word.is_idle,
		.kind = STEP_ADDS,
		.reading = reading,
		.until_ns = reading_now_ns(reading) };
	int error;

	if ((word.is_idle || !word.record) && state_has(member->table, region)) {
		advance_row(member, region, reading);
		return;
	}
	if (!word.is_idle && !holder_is_inside(member->table, region, &word))
		return;
	if (word.is_idle || member_lives(member, word.holder - 1))
		step_commit(member, region, &word, &step, &error);
	else
		settle(member, region, clock_now_ns(), NULL);
}

void stretch_advance_others(struct member *member, unsigned except, const struct reading *reading)
{
	const unsigned n = table_count_regions(member->table);

	if (!reading->is_taken || reading->error)
		return;
	__atomic_store_n(&member->table->header.last_reading_ns, clock_now_ns(), __ATOMIC_RELAXED);
	for (unsigned i = 0; i < n; i++)
		if (i != except)
			advance(member, i, reading);
	observe(member, reading);
}

bool stretch_is_unread(const struct table *table, unsigned region)
{
	const struct word word = word_of(table, region);
	int row;
	const struct state *state = state_of(table, region, &row);

	if (state)
		return word.record && state_row_is_open(row, state_word(state));
	return word.holder && (!word.is_idle || window_look(table, region, 0).n_stretches !=
							step_count_read(table, word.record));
}

void stretch_lose_windows(struct member *member)
{
	struct table *table = member->table;
	const unsigned n = table_count_regions(table);

	for (unsigned i = 0; i < n; i++) {
		const struct word word = word_of(table, i);
		const struct step step = { .holder = word.holder, .is_idle = true };
		int error;

		if (word.is_idle && stretch_is_unread(table, i))
			step_commit(member, i, &word, &step, &error);
	}
}
