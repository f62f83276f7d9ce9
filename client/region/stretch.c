/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/stretch.h"

#include <errno.h>
#include <string.h>

#include "client/region/observe.h"
#include "client/region/sums.h"
#include "client/region/word.h"
#include "common/clock.h"

/* Bounds the retries: every lost race is another member's progress, and dead members inside a
 * region are found one by one. */
enum { STEPS_MOST = 4 * TABLE_MEMBERS_MAX };

/* Members change a record only when one of them takes a reading. */
enum { COPIES_MOST = 1000 };

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

static bool holder_is_inside(const struct table *table, unsigned region, const struct word *word)
{
	return word->holder && !word->is_closing &&
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

/* --- records --- */

/* The member's spare record, which no other member writes; 0: none is left. Other programs may
 * change the number in the table, so a change reads it only once. */
static unsigned spare_record(struct member *member)
{
	struct table_slot *slot = &member->table->slots[member->slot];
	uint32_t *n_records = &member->table->header.n_records;
	uint32_t n = __atomic_load_n(&slot->spare, __ATOMIC_RELAXED);

	if (n && n < TABLE_RECORDS)
		return n;
	n = __atomic_load_n(n_records, __ATOMIC_RELAXED);
	do
		if (n >= TABLE_RECORDS)
			return 0;
	while (!__atomic_compare_exchange_n(
		n_records, &n, n + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	__atomic_store_n(&slot->spare, n, __ATOMIC_RELAXED);
	return n;
}

bool stretch_copy_record(const struct table *table, unsigned region, struct table_record *ret)
{
	for (int i = 0; i < COPIES_MOST; i++) {
		const struct word word = word_of(table, region);

		if (!word.record)
			return false;
		sums_copy(ret, &table->records[word.record]);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (word_of(table, region).raw == word.raw)
			return true;
	}
	return false;
}

/* A change of a region. */
struct step {
	unsigned holder;               /* after the change */
	const struct reading *reading; /* NULL: traffic since the last one is lost */
	bool opens;
	bool is_shared; /* other regions were open since the last reading */
};

static int draw_up(struct table_record *draft, const struct step *step)
{
	if (step->opens)
		sums_open(draft, step->reading);
	else if (!step->reading)
		sums_lose(draft, clock_now_ns());
	else if (!step->holder)
		return sums_close(draft, step->reading, step->is_shared);
	else
		return sums_add(draft, step->reading, step->is_shared);
	return 0;
}

/* Makes the draft the region's record, and the former record the spare. False: too late. */
static bool put_in_place(struct member *member, unsigned spare, unsigned region,
	const struct word *word, unsigned holder)
{
	struct table_slot *slot = &member->table->slots[member->slot];
	bool done;

	/* The spare record was a region's, and another member may still be copying it. That member
	 * must see the new word of the region before it sees what is written here. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	sums_copy(&member->table->records[spare], member->draft);
	__atomic_store_n(&slot->is_changing, 1, __ATOMIC_RELEASE);
	done = change(member->table, region, word, spare, holder);
	if (done)
		__atomic_store_n(&slot->spare, word->record, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->is_changing, 0, __ATOMIC_RELEASE);
	return done;
}

/*
 * Applies @step to @word. 1: done; 0: the word has changed meanwhile; -ENOSPC; -EBADF. *@ret_error
 * is the error of the sums, with its sentence; the step is done even then.
 */
static int commit(struct member *member, unsigned region, const struct word *word,
	const struct step *step, int *ret_error)
{
	struct table *table = member->table;
	unsigned spare;
	int done = 0;

	if (!member_has_slot(member)) /* the spare record is not ours either */
		return member_say_none();
	pthread_mutex_lock(&member->lock);
	spare = spare_record(member);
	if (word->record)
		sums_copy(member->draft, &table->records[word->record]);
	else
		memset(member->draft, 0, sizeof *member->draft);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (spare && word_of(table, region).raw == word->raw) {
		*ret_error = draw_up(member->draft, step);
		done = put_in_place(member, spare, region, word, step->holder);
	}
	pthread_mutex_unlock(&member->lock);
	if (!spare)
		return error_say(-ENOSPC,
			"The table of this team has no room left: too many of its processes were "
			"killed.");
	return done;
}

/* --- sampling --- */

/* Did the present stretch begin with a reading? */
static bool is_measured(const struct table *table, const struct word *word)
{
	return __atomic_load_n(&table->records[word->record].is_measured, __ATOMIC_RELAXED);
}

/* Is the next stretch one of those that are measured? */
static bool is_due(const struct table *table, const struct word *word)
{
	const uint32_t every = __atomic_load_n(&table->header.every, __ATOMIC_RELAXED);
	const uint64_t n =
		__atomic_load_n(&table->records[word->record].n_stretches, __ATOMIC_RELAXED);

	return every <= 1 || n % every == 0;
}

/* --- entering --- */

/* The number of open regions other than @except. */
static unsigned count_open(const struct table *table, unsigned except)
{
	const unsigned n_regions = table_count_regions(table);
	unsigned n = 0;

	for (unsigned i = 0; i < n_regions; i++)
		n += i != except && word_of(table, i).holder;
	return n;
}

int stretch_enter(struct member *member, unsigned region, struct reading *reading)
{
	struct step opening = { .holder = member->slot + 1, .opens = true };
	int r = 0, error = 0;

	for (int i = 0; r == 0; i++) {
		const struct word word = word_of(member->table, region);

		if (i == STEPS_MOST)
			return say_overwritten();
		if (holder_is_inside(member->table, region, &word))
			return 0;
		if (word.holder) {
			r = change(member->table, region, &word, word.record, opening.holder);
			continue;
		}
		if (!reading->is_taken && is_due(member->table, &word)) {
			r = reading_take(reading);
			continue;
		}
		opening.reading = reading->is_taken ? reading : NULL;
		r = commit(member, region, &word, &opening, &error);
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

/*
 * Makes a member that is inside the holder, or closes the region: with a reading, or as of its last
 * reading if @reading is NULL. Others may enter and leave meanwhile. So each step reads the word
 * again, and a reading is used only if the word has not changed since: it does not cover members
 * that came and went later.
 */
static int settle(struct member *member, unsigned region, struct reading *reading)
{
	struct table *table = member->table;
	uint64_t read_at = 0; /* the word at the reading */
	int r = 0, error = 0;

	for (int i = 0; r == 0; i++) {
		const struct word word = word_of(table, region);
		struct step closing = { .reading = reading };
		unsigned other;

		if (i == STEPS_MOST)
			return say_overwritten();
		if (!word.holder || holder_is_inside(table, region, &word) ||
			other_closes(member, &word))
			break;
		other = find_inside(table, region, word.holder - 1);
		if (other) {
			if (member_lives(member, other - 1))
				change(table, region, &word, word.record, other);
			continue;
		}
		if (!word.is_closing || word.holder != member->slot + 1) {
			r = begin_closing(member, region, &word);
			continue;
		}
		if (reading && read_at != word.raw && is_measured(table, &word)) {
			if (read_at)
				reading_renew(reading);
			else
				reading_take(reading);
			read_at = word.raw;
			continue;
		}
		if (reading && (!reading->is_taken || reading->error))
			closing.reading = NULL;
		closing.is_shared = count_open(table, region) > 0;
		r = commit(member, region, &word, &closing, &error);
		if (r == -ENOSPC) /* the record stays as it is */
			change(table, region, &word, word.record, 0);
	}
	if (r < 0)
		return r;
	return reading && reading->error ? reading->error : error;
}

/* Must this member settle the region? Yes if the holder is this member, or has left or died. */
static bool is_ours(const struct member *member, unsigned region)
{
	const struct word word = word_of(member->table, region);

	return word.holder == member->slot + 1 ||
	       (word.holder && table_phase(member->table, word.holder - 1) != TABLE_JOINED);
}

void stretch_check_holder(const struct member *member, unsigned region)
{
	const struct word word = word_of(member->table, region);

	if (word.holder)
		member_lives(member, word.holder - 1);
}

int stretch_leave(struct member *member, unsigned region, struct reading *reading)
{
	return is_ours(member, region) ? settle(member, region, reading) : 0;
}

void stretch_abandon(struct member *member, unsigned region)
{
	if (is_ours(member, region))
		settle(member, region, NULL);
}

void stretch_settle_dead(struct member *member)
{
	const unsigned n = table_count_regions(member->table);

	for (unsigned i = 0; i < n; i++) {
		const struct word word = word_of(member->table, i);

		if (word.holder && table_phase(member->table, word.holder - 1) != TABLE_JOINED)
			settle(member, i, NULL);
	}
}

void stretch_settle_former(struct member *member)
{
	const unsigned n = table_count_regions(member->table);

	for (unsigned i = 0; i < n; i++)
		if (word_of(member->table, i).holder == member->slot + 1)
			settle(member, i, NULL);
}

/* --- the others --- */

/*
 * Skips a region whose holder is leaving: the holder closes it. Closes one with a dead holder as of
 * its last reading. Members that change the region now have a reading of their own.
 */
static void advance(
	struct member *member, unsigned region, const struct reading *reading, bool is_shared)
{
	const struct word word = word_of(member->table, region);
	const struct step step = {
		.holder = word.holder, .reading = reading, .is_shared = is_shared
	};
	int error;

	if (!holder_is_inside(member->table, region, &word) || !is_measured(member->table, &word))
		return;
	if (member_lives(member, word.holder - 1))
		commit(member, region, &word, &step, &error);
	else
		settle(member, region, NULL);
}

void stretch_advance_others(
	struct member *member, unsigned except, const struct reading *reading, bool except_was_open)
{
	const unsigned n = table_count_regions(member->table);
	unsigned n_open;

	if (!reading->is_taken || reading->error)
		return;
	__atomic_store_n(&member->table->header.last_reading_ns, clock_now_ns(), __ATOMIC_RELAXED);
	n_open = count_open(member->table, except) + except_was_open;
	for (unsigned i = 0; i < n; i++)
		if (i != except)
			advance(member, i, reading, n_open > 1);
	observe(member, reading);
}
