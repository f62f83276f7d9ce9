/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/cell.h"

#include "common/clock.h"

/* --- the lock --- */

/*
 * A sequence lock for data in a table that one member writes, and others read without a lock: a
 * cell or a nest. The lock is the first word of the data. It is odd during a write.
 */
enum { SEQUENCE_TRIES = 1000 }; /* a write takes a few ns */

static void sequence_begin(uint32_t *lock)
{
	__atomic_store_n(lock, *lock + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* For use between sequence_begin() and sequence_end(). */
#define SEQUENCE_ADD(field, amount) __atomic_store_n(&(field), (field) + (amount), __ATOMIC_RELAXED)

static void sequence_end(uint32_t *lock)
{
	__atomic_store_n(lock, *lock + 1, __ATOMIC_RELEASE);
}

/* Makes a consistent copy of the @size_bytes that begin with @lock. If the member died during a
 * write, copies what is there. See table_copy(). */
static void sequence_copy(void *ret, const uint32_t *lock, size_t size_bytes)
{
	for (int i = 0; i < SEQUENCE_TRIES; i++) {
		const uint32_t before = __atomic_load_n(lock, __ATOMIC_ACQUIRE);

		table_copy(ret, lock, size_bytes);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && __atomic_load_n(lock, __ATOMIC_RELAXED) == before)
			return;
	}
}

/* --- writing --- */

/* Full barrier: after this write other members read .inside, and this thread reads what they wrote.
 * See stretch.h. */
static void count_inside_and_unlock(struct table_cell *cell, int change)
{
	SEQUENCE_ADD(cell->inside, (uint32_t)change);
	sequence_end(&cell->lock);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void cell_begin(struct table_cell *cell, uint64_t now_ns)
{
	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->begun_ns, now_ns);
	count_inside_and_unlock(cell, 1);
}

void cell_end(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns)
{
	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->begun_ns, -begun_ns);
	SEQUENCE_ADD(cell->time_ns, now_ns - begun_ns);
	SEQUENCE_ADD(cell->n_ended, 1);
	count_inside_and_unlock(cell, -1);
}

void cell_abandon(struct table_cell *cell, uint64_t begun_ns)
{
	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->begun_ns, -begun_ns);
	SEQUENCE_ADD(cell->n_abandoned, 1);
	count_inside_and_unlock(cell, -1);
}

void cell_abandon_all(struct table_cell *cell)
{
	const uint32_t n = cell->inside;

	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->begun_ns, -cell->begun_ns);
	SEQUENCE_ADD(cell->n_abandoned, n);
	count_inside_and_unlock(cell, -(int)n);
}

uint32_t cell_bury(struct table_cell *cell)
{
	const uint32_t n = __atomic_load_n(&cell->inside, __ATOMIC_RELAXED);

	if (!n && !(cell->lock & 1))
		return 0;
	cell->lock |= 1; /* the member may have died during a write */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&cell->begun_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&cell->inside, 0, __ATOMIC_RELAXED);
	sequence_end(&cell->lock);
	return n;
}

void cell_fail(struct table_cell *cell)
{
	SEQUENCE_ADD(cell->n_failed, 1);
}

void cell_excess(struct table_cell *cell)
{
	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->n_ended, 1);
	SEQUENCE_ADD(cell->n_failed, 1);
	sequence_end(&cell->lock);
}

void cell_work(struct table_cell *cell, unsigned unit, double amount)
{
	const double sum = cell->work[unit] + amount;

	__atomic_store(&cell->work[unit], &sum, __ATOMIC_RELAXED);
}

void cell_begin_anew(struct table_cell *cell, uint64_t begun_ns, uint64_t now_ns)
{
	sequence_begin(&cell->lock);
	SEQUENCE_ADD(cell->begun_ns, now_ns - begun_ns);
	sequence_end(&cell->lock);
}

/* --- reading --- */

void cell_copy(struct table_cell *ret, const struct table_cell *cell)
{
	sequence_copy(ret, &cell->lock, sizeof *ret);
}

/* --- states --- */

static void add(uint64_t *number, uint64_t amount)
{
	__atomic_fetch_add(number, amount, __ATOMIC_RELAXED);
}

/* Members may come here in another order than their changes; the times are still right in sum.
 * False: it is the same class. */
static bool note_class(const struct state_turn *turn, uint64_t from)
{
	struct state *state = turn->state;
	const enum state_class old = state_class(from), now = state_class(turn->word);
	uint64_t since_ns;

	if (old == now)
		return false;
	since_ns = __atomic_exchange_n(&state->since_ns, turn->now_ns, __ATOMIC_RELAXED);
	if (old != STATE_NOBODY)
		add(&state->class_ns[old - 1], turn->now_ns - since_ns);
	for (int i = 0; i < STATE_ROWS; i++)
		if (state_row_is_open(i, turn->word) && !state_row_is_open(i, from))
			add(&state->n_opened[i], 1);
	return true;
}

static void count_passage(struct table_cell *cell, const struct state_turn *turn)
{
	if (turn->before == UNCORE_STATE_ON) {
		SEQUENCE_ADD(cell->time_ns, turn->now_ns - cell->begun_ns);
		SEQUENCE_ADD(cell->begun_ns, -cell->begun_ns);
		SEQUENCE_ADD(cell->n_ended, 1);
		SEQUENCE_ADD(cell->inside, (uint32_t)-1);
	}
	if (turn->now == UNCORE_STATE_ON) {
		SEQUENCE_ADD(cell->begun_ns, turn->now_ns);
		SEQUENCE_ADD(cell->inside, 1);
	}
}

bool cell_turn(struct table_cell cells[], struct state_turn *turn)
{
	static const uint64_t weights[] = { 0, STATE_PART, STATE_PART + STATE_IN };
	const uint64_t amount = STATE_CHANGE + weights[turn->now] - weights[turn->before];
	struct table_cell *cell = &cells[turn->first];
	const uint32_t takes_part = turn->now != UNCORE_STATE_LEFT;

	sequence_begin(&cell->lock);
	count_passage(cell, turn);
	__atomic_store_n(&cells[turn->part].inside, takes_part, __ATOMIC_RELAXED);
	turn->word = __atomic_add_fetch(&turn->state->word, amount, __ATOMIC_SEQ_CST);
	sequence_end(&cell->lock);
	return note_class(turn, turn->word - amount);
}

/* False: the member is changing its state just now. */
static bool add_member(
	const struct table_cell cells[], const struct state_turn *turn, uint64_t *counts)
{
	const struct table_cell *cell = &cells[turn->first];
	const uint32_t lock = __atomic_load_n(&cell->lock, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&cells[turn->part].inside, __ATOMIC_RELAXED))
		*counts += STATE_PART;
	if (__atomic_load_n(&cell->inside, __ATOMIC_RELAXED))
		*counts += STATE_IN;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(lock & 1) && __atomic_load_n(&cell->lock, __ATOMIC_RELAXED) == lock;
}

static bool count_members(
	const struct table *table, const struct state_turn *turn, uint64_t *ret_counts)
{
	const unsigned n = table_count_slots(table);
	bool is_known = true;

	*ret_counts = 0;
	for (unsigned i = 0; i < n && is_known; i++)
		if (table_phase(table, i) == TABLE_JOINED)
			is_known = add_member(table->cells[i], turn, ret_counts);
	return is_known;
}

/* A member that changes its state meanwhile changes the word. So what was counted is not used. */
void cell_recount(struct table *table, struct state *state)
{
	struct state_turn turn = { .state = state,
		.first = (unsigned)(__atomic_load_n(&state->first, __ATOMIC_RELAXED) - 1),
		.part = (unsigned)(__atomic_load_n(&state->part, __ATOMIC_RELAXED) - 1),
		.now_ns = clock_now_ns() };
	bool is_done = turn.first >= TABLE_REGIONS_MAX || turn.part >= TABLE_REGIONS_MAX;
	uint64_t counts;

	for (int i = 0; i < SEQUENCE_TRIES && !is_done; i++) {
		uint64_t from = state_word(state);

		if (!count_members(table, &turn, &counts))
			continue;
		if (counts == from % STATE_CHANGE)
			return;
		turn.word = from - from % STATE_CHANGE + STATE_CHANGE + counts;
		is_done = __atomic_compare_exchange_n(
			&state->word, &from, turn.word, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		if (is_done && note_class(&turn, from))
			state_note_unread(state);
	}
}

/* --- nests --- */

static void change_nest(struct table_nest *nest, int inside, uint64_t begun_ns, uint64_t time_ns)
{
	sequence_begin(&nest->lock);
	SEQUENCE_ADD(nest->inside, (uint32_t)inside);
	SEQUENCE_ADD(nest->begun_ns, begun_ns);
	SEQUENCE_ADD(nest->time_ns, time_ns);
	sequence_end(&nest->lock);
}

void nest_begin(struct table *table, unsigned slot, unsigned region, uint64_t now_ns)
{
	if (region < ESTIMATE_REGIONS_MAX)
		change_nest(&table->nests[slot][region], 1, now_ns, 0);
}

void nest_end(
	struct table *table, unsigned slot, unsigned region, uint64_t begun_ns, uint64_t now_ns)
{
	if (region < ESTIMATE_REGIONS_MAX)
		change_nest(&table->nests[slot][region], -1, -begun_ns, now_ns - begun_ns);
}

void nest_bury(struct table *table, unsigned slot)
{
	for (unsigned i = 0; i < ESTIMATE_REGIONS_MAX; i++) {
		struct table_nest *nest = &table->nests[slot][i];

		__atomic_store_n(&nest->lock, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&nest->inside, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&nest->begun_ns, 0, __ATOMIC_RELAXED);
	}
}

/* A passage that began after @now_ns has no time yet. For a member that died or left, only ended
 * passages count. */
uint64_t nest_own_ns(const struct table *table, unsigned slot, unsigned region, uint64_t now_ns)
{
	struct table_nest nest = { .lock = 0 };
	struct table_cell cell = { .lock = 0 };
	uint64_t inside_ns, nested_ns;

	sequence_copy(&nest, &table->nests[slot][region].lock, sizeof nest);
	cell_copy(&cell, &table->cells[slot][region]);
	inside_ns = cell.time_ns;
	nested_ns = nest.time_ns;
	if (table_phase(table, slot) == TABLE_JOINED) {
		inside_ns += cell.inside * now_ns - cell.begun_ns;
		nested_ns += nest.inside * now_ns - nest.begun_ns;
	}
	return inside_ns - nested_ns;
}
