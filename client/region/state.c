/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/state.h"

#include "client/region/cell.h"
#include "common/clock.h"

enum { TRIES = 1000, CLASS_BITS = 2, CLASS = 3 };

/* --- times --- */

/* Members may come here in another order than their changes; the times are still right in sum, and
 * the class is that of the last change. */
static void note_class(struct state *state, uint64_t now_ns)
{
	const uint64_t word = __atomic_load_n(&state->word, __ATOMIC_SEQ_CST);
	const uint64_t since = __atomic_exchange_n(
		&state->since, now_ns << CLASS_BITS | state_class(word), __ATOMIC_SEQ_CST);

	if (since)
		__atomic_fetch_add(&state->class_ns[since & CLASS], now_ns - (since >> CLASS_BITS),
			__ATOMIC_RELAXED);
}

uint64_t state_time_ns(const struct state *state, int row, uint64_t now_ns)
{
	const uint64_t since = __atomic_load_n(&state->since, __ATOMIC_SEQ_CST);
	uint64_t time_ns = 0;

	if (state_rows[row].classes >> (since & CLASS) & 1)
		time_ns = now_ns - (since >> CLASS_BITS);
	for (int class = STATE_NONE; class <= STATE_ALL; class ++)
		if (state_rows[row].classes >> class & 1)
			time_ns += LOAD(state->class_ns[class]);
	return time_ns;
}

/* --- a change --- */

static uint64_t amount_of(const struct state_turn *turn)
{
	static const uint64_t weights[] = { 0, STATE_PART, STATE_PART + STATE_IN };

	return STATE_CHANGE + weights[turn->now] - weights[turn->before];
}

bool state_turns_class(const struct state_turn *turn)
{
	const uint64_t word = __atomic_load_n(&turn->state->word, __ATOMIC_SEQ_CST);

	return state_class(word) != state_class(word + amount_of(turn));
}

/* The lock of the second cell lets count_members() see the whole change or none. */
void state_turn(struct table_cell cells[], const struct state_turn *turn)
{
	struct table_cell *cell = &cells[turn->first], *part = &cells[turn->part];
	const uint64_t amount = amount_of(turn);
	uint64_t word;

	cell_lock(part);
	if (turn->before == UNCORE_STATE_ON)
		cell_end(cell, cell->begun_ns, turn->left_ns, turn->now_ns);
	if (turn->now == UNCORE_STATE_ON)
		cell_begin(cell, turn->came_ns, turn->now_ns);
	STORE(part->inside, turn->now != UNCORE_STATE_LEFT);
	word = __atomic_add_fetch(&turn->state->word, amount, __ATOMIC_SEQ_CST);
	cell_unlock(part);
	if (state_class(word) != state_class(word - amount))
		note_class(turn->state, turn->now_ns);
}

/* --- members that died --- */

/* False: the member is changing its state just now. */
static bool count_member(
	const struct table_cell *cell, const struct table_cell *part, uint64_t *counts)
{
	const uint32_t lock = __atomic_load_n(&part->lock, __ATOMIC_ACQUIRE);

	if (LOAD(part->inside))
		*counts += STATE_PART;
	if (LOAD(cell->inside))
		*counts += STATE_IN;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(lock & 1) && LOAD(part->lock) == lock;
}

static bool count_members(
	const struct table *table, unsigned first, unsigned part, uint64_t *ret_counts)
{
	const unsigned n = table_count_slots(table);
	bool is_known = true;

	*ret_counts = 0;
	for (unsigned i = 0; i < n && is_known; i++)
		if (table_phase(table, i) == TABLE_JOINED && table_has_cell(table, i, part))
			is_known = count_member(
				&table->cells[i][first], &table->cells[i][part], ret_counts);
	return is_known;
}

/* A member that changes its state meanwhile changes the word. So what was counted is not used. */
static void state_recount(struct table *table, struct state *state)
{
	const uint64_t first = LOAD(state->first) - 1;
	const uint64_t part = LOAD(state->part) - 1;
	uint64_t counts;

	for (int i = 0; i < TRIES && first < TABLE_REGIONS_MAX && part < TABLE_REGIONS_MAX; i++) {
		uint64_t from = __atomic_load_n(&state->word, __ATOMIC_SEQ_CST);

		if (!count_members(table, (unsigned)first, (unsigned)part, &counts))
			continue;
		if (counts == from % STATE_CHANGE)
			return;
		if (!REPLACE(state->word, from, from - from % STATE_CHANGE + STATE_CHANGE + counts))
			continue;
		note_class(state, clock_now_ns());
		return;
	}
}

void state_recount_all(struct table *table)
{
	for (unsigned i = 0; i < TABLE_STATES; i++)
		state_recount(table, state_at(table, i));
}
