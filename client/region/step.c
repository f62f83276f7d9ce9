/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/step.h"

#include <errno.h>
#include <string.h>

#include "client/region/sums.h"
#include "common/clock.h"

/* Members change a record only when one of them takes a reading. */
enum { COPIES_MOST = 1000 };

/* The number of sockets is known after the first reading. */
static bool has_room(const struct member *member, unsigned record)
{
	const struct table *table = member->table;
	const uint32_t n = __atomic_load_n(&table->header.n_sockets, __ATOMIC_RELAXED);
	const uint32_t n_sockets = n && n < PAGE_SOCKETS_MAX ? n : PAGE_SOCKETS_MAX;

	return member_has_room(member, &table->records[record],
		offsetof(struct table_record, sockets) + n_sockets * sizeof(struct table_socket));
}

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
		if (n >= TABLE_RECORDS || !has_room(member, n))
			return 0;
	while (!__atomic_compare_exchange_n(
		n_records, &n, n + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	__atomic_store_n(&slot->spare, n, __ATOMIC_RELAXED);
	return n;
}

bool step_copy_record(const struct table *table, unsigned region, struct table_record *ret)
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

/*
 * False: the region is not a row of a state. .n_gaps is the number of changes of the state, .gap_ns
 * the time in the row, and .n_idle the number of changes of class without a reading. Between two
 * readings there was none if it is the same before the first of them and after the second.
 */
static bool look_at_row(const struct table *table, const struct reading *reading,
	const struct table_record *record, struct sums_reading *ret)
{
	int row;
	const struct state *state = state_of(table, ret->region, &row);
	const struct state_turn *turn = reading->turn;
	uint64_t word, now_ns;

	if (!state)
		return false;
	ret->is_row = true;
	ret->is_turn = turn && turn->state == state;
	word = ret->is_turn ? turn->word : state_word(state);
	now_ns = ret->is_turn ? turn->now_ns : reading_now_ns(reading);
	ret->is_mixed = state_count_unread(table) != record->n_idle;
	ret->state = (struct window_state){
		.n_stretches = __atomic_load_n(&state->n_opened[row], __ATOMIC_RELAXED),
		.n_gaps = word / STATE_CHANGE,
		.n_idle = reading->n_unread,
		.gap_ns = state_time_ns(state, row, word, now_ns),
		.is_open = state_row_is_open(row, word),
	};
	return true;
}

static struct sums_reading view(const struct table *table, unsigned region,
	const struct table_record *record, const struct step *step)
{
	const struct alone_look *look = &step->reading->look;
	const struct table_reading *last = &record->sockets[0].last;
	struct sums_reading reading = {
		.readout = &step->reading->readout,
		.region = region,
		.sole_before = look->region,
		.others_before = look->region == ALONE_NOBODY ? ALONE_NOT : look->others,
		.sole_after = ALONE_NOBODY,
		.is_stale = step->is_stale,
	};

	if (look_at_row(table, step->reading, record, &reading))
		return reading;
	reading.state = window_look(table, region, step->until_ns);
	reading.state.is_open = step->kind == STEP_OPENS ||
				(step->kind == STEP_ADDS && !step->is_idle && !step->begins);
	if (record->n_sockets && last->others != ALONE_NOT && last->sole < ESTIMATE_REGIONS_MAX) {
		reading.sole_after = (unsigned)last->sole;
		reading.others_after = alone_count_others(table, reading.sole_after);
	}
	return reading;
}

static int draw_up(const struct table *table, unsigned region, struct table_record *draft,
	const struct step *step)
{
	struct sums_reading reading;

	if (!step->reading) {
		sums_lose(draft, clock_now_ns());
		return 0;
	}
	reading = view(table, region, draft, step);
	if (step->kind == STEP_CLOSES)
		return sums_close(draft, &reading);
	if (step->kind == STEP_ADDS)
		return sums_add(draft, &reading);
	sums_open(draft, &reading);
	return 0;
}

/* Makes the draft the region's record, and the former record the spare. False: too late. */
static bool put_in_place(struct member *member, unsigned spare, unsigned region,
	const struct word *word, const struct step *step)
{
	struct table_slot *slot = &member->table->slots[member->slot];
	const struct word to = {
		.record = spare, .holder = step->holder, .is_idle = step->is_idle
	};
	bool done;

	/* The spare record was a region's, and another member may still be copying it. That member
	 * must see the new word of the region before it sees what is written here. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	sums_copy(&member->table->records[spare], member->draft);
	__atomic_store_n(&slot->is_changing, 1, __ATOMIC_RELEASE);
	done = word_change(member->table, region, word, &to);
	if (done)
		__atomic_store_n(&slot->spare, word->record, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->is_changing, 0, __ATOMIC_RELEASE);
	return done;
}

int step_commit(struct member *member, unsigned region, const struct word *word,
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
		*ret_error = draw_up(table, region, member->draft, step);
		done = put_in_place(member, spare, region, word, step);
	}
	pthread_mutex_unlock(&member->lock);
	if (!spare)
		return error_say(-ENOSPC,
			"The table of the regions has no room left: too many of its processes were "
			"killed, or it is a file and the disk is full.");
	return done;
}
