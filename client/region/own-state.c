/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The states of this process (state.h). More threads of it are in a state than one, and the team
 * hears of the first that comes in and the last that goes out.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/region/passage.h"
#include "client/region/regions.h"
#include "common/macro.h"

enum { STATE_NAME_MOST = REGION_NAME_MAX - (int)sizeof "/none" };

static int say_no_room(const char *name)
{
	return error_say(-ENOSPC, "The team has %d states or %d regions, so state %s has no room.",
		TABLE_STATES, TABLE_OTHERS, name);
}

static int find_rows(struct regions *regions, const char *name, unsigned ret[STATE_ROWS])
{
	char text[2 * REGION_NAME_MAX];
	struct region *region;
	int r = 0;

	for (int i = 0; i < STATE_ROWS && r == 0; i++) {
		snprintf(text, sizeof text, "%s%s", name, state_rows[i].end);
		r = regions_find_or_add(regions, text, &region);
		if (r == 0)
			ret[i] = region->index;
		if (r == 0 && region->index == TABLE_OTHERS)
			r = say_no_room(name);
	}
	return r;
}

/* The number of the state in the table; TABLE_STATES: there is no room. */
static unsigned own_state_claim(struct table *table, unsigned first)
{
	for (unsigned i = 0; i < TABLE_STATES; i++) {
		uint64_t owner = 0;

		if (REPLACE(state_at(table, i)->first, owner, first + 1) || owner == first + 1)
			return i;
	}
	return TABLE_STATES;
}

/* @state is empty. */
static int state_init(struct regions *regions, const char *name, struct own_state *state)
{
	struct table *table = regions->team.table;
	unsigned rows[STATE_ROWS] = { 0 }, number;
	int r = region_check_text("The name of a state", name, STATE_NAME_MOST + 1);

	if (r == 0)
		r = find_rows(regions, name, rows);
	if (r < 0)
		return r;
	number = own_state_claim(table, rows[0]);
	if (number == TABLE_STATES)
		return say_no_room(name);
	strcpy(state->name, name);
	for (int i = 0; i < STATE_ROWS; i++)
		STORE(table->regions[rows[i]].row, state_row_of(number, i));
	state->turn = (struct state_turn){
		.state = state_at(table, number), .first = rows[0], .part = rows[1]
	};
	STORE(state->turn.state->part, rows[1] + 1);
	return 0;
}

/* The state of this name; the first one without a name becomes it. */
static int state_find(struct regions *regions, const char *name, struct own_state **ret)
{
	for (int i = 0; i < TABLE_STATES; i++) {
		*ret = &regions->states.list[i];
		if (!*(*ret)->name)
			return state_init(regions, name, *ret);
		if (strcmp((*ret)->name, name) == 0)
			return 0;
	}
	return say_no_room(name);
}

static int own_state_change(struct regions *regions, struct own_state *state, int now)
{
	const int before = state->turn.now;
	int r;

	if (before == now)
		return 0;
	state->turn.before = before;
	state->turn.now = now;
	r = passage_turn(regions, &state->turn);
	if (before == UNCORE_STATE_ON || now == UNCORE_STATE_ON)
		regions_trace(regions, now == UNCORE_STATE_ON ? TRACE_SPAN_BEGIN : TRACE_SPAN_END,
			state->turn.first, state->turn.now_ns,
			TRACE_FIRST_STATE + (uint64_t)(state - regions->states.list));
	return r;
}

/* How the process is in the state, now that a thread says so of itself. */
static int count_thread(struct own_state *state, int now)
{
	if (now == UNCORE_STATE_LEFT)
		state->n_threads = 0;
	else if (now == UNCORE_STATE_ON)
		state->n_threads++;
	else if (state->n_threads)
		state->n_threads--;
	return state->n_threads ? UNCORE_STATE_ON : now;
}

static int set(struct regions *regions, const char *name, int now)
{
	struct states *states = &regions->states;
	struct own_state *state = NULL;
	int r = 0;

	if (now < UNCORE_STATE_LEFT || now > UNCORE_STATE_ON)
		return error_say(-EINVAL, "A process has left a state (0), is off (1) or on (2).");
	pthread_mutex_lock(&states->lock);
	if (!states->is_over)
		r = state_find(regions, name ? name : "", &state);
	if (state && r == 0)
		r = own_state_change(regions, state, count_thread(state, now));
	pthread_mutex_unlock(&states->lock);
	return r;
}

_public_ int uncore_state_set(const char *name, int state)
{
	return REGIONS_CALL(set, name, state);
}

void regions_leave_states(struct regions *regions)
{
	struct states *states = &regions->states;

	pthread_mutex_lock(&states->lock);
	states->is_over = true;
	for (int i = 0; i < TABLE_STATES; i++)
		own_state_change(regions, &states->list[i], UNCORE_STATE_LEFT);
	pthread_mutex_unlock(&states->lock);
}
