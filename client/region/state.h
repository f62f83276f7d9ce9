/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A state of the members of a team, beside their regions, such as inside of MPI. A member takes
 * part in it or not, and then is in it or not. The *class* of the team is whether nobody takes
 * part, or none, some or all of those that do are in the state.
 *
 * One word counts both. So each change of class is made by exactly one member, which knows it at
 * once, and takes a reading before it if the budget allows (pace.h).
 *
 * Four regions are the *rows* of the report, each open in some of the classes. Each interval is
 * added to them (interval.h). Passages are counted in the cells of the first row.
 */
#pragma once

#include "client/region/table.h"

enum state_class { STATE_NOBODY, STATE_NONE, STATE_SOME, STATE_ALL };

enum { STATE_ROWS = TABLE_ROWS };

/* The end of the name of a row, the classes in which it is open, and which ranks are in the state.
 */
static const struct state_row {
	const char *end;
	unsigned classes;
	const char *ranks;
} state_rows[STATE_ROWS] = {
	{ "/any", 1 << STATE_SOME | 1 << STATE_ALL, "any rank" },
	{ "/none", 1 << STATE_NONE, "no rank" },
	{ "/some", 1 << STATE_SOME, "some ranks and not all" },
	{ "/all", 1 << STATE_ALL, "all ranks" },
};

/* What the members share; atomic. A change of class writes two lines of the cache. */
struct state {
	uint64_t first; /* number of the region that is the first row, + 1; 0: no state yet */
	uint64_t part;  /* ... the second row, + 1: in its cells .inside says who takes part */
	uint64_t word;
	uint64_t since; /* CLOCK_MONOTONIC, without two bits, which are the class from then on */
	uint64_t class_ns[4]; /* of each class, until then */
};

static_assert(sizeof(struct state) <= sizeof((struct table *)NULL)->states[0], "struct state");

/* The parts of the word: changes so far, members that take part, and those that are in it. */
#define STATE_CHANGE (UINT64_C(1) << 32)
#define STATE_PART   (UINT64_C(1) << 16)
#define STATE_IN     UINT64_C(1)

/* A change by this member. */
struct state_turn {
	struct state *state;
	unsigned first, part;      /* numbers of the rows */
	int before, now;           /* UNCORE_STATE_* */
	uint64_t now_ns;           /* of the change, for the sums */
	uint64_t left_ns, came_ns; /* the process went out, and in: without a reading in between */
};

static inline enum state_class state_class(uint64_t word)
{
	const unsigned n_in = word & (STATE_PART - 1), n_part = word >> 16 & (STATE_PART - 1);

	if (!n_part)
		return STATE_NOBODY;
	if (!n_in)
		return STATE_NONE;
	return n_in < n_part ? STATE_SOME : STATE_ALL;
}

static inline struct state *state_at(const struct table *table, unsigned number)
{
	return (struct state *)table->states[number];
}

/* What a region that is row @i of a state has in .row. */
static inline uint64_t state_row_of(unsigned number, int i)
{
	return (uint64_t)i << 16 | (number + 1);
}

/* Which row of a state the region is, and of which state; -1: of none. */
static inline int state_find_row(const struct table *table, unsigned region, unsigned *ret_number)
{
	const uint64_t row = LOAD(table->regions[region].row);

	*ret_number = (unsigned)(row & 0xffff) - 1;
	return *ret_number < TABLE_STATES ? (int)(row >> 16 & (STATE_ROWS - 1)) : -1;
}

/* How long the row was open until now. */
uint64_t state_time_ns(const struct state *state, int row, uint64_t now_ns);

/* Will the class of the team change by this, if no other member changes it meanwhile? */
bool state_turns_class(const struct state_turn *turn);

/* The member with these cells changes its state at .now_ns. */
void state_turn(struct table_cell cells[], const struct state_turn *turn);

/* Counts the members of all states anew, because some may have died. */
void state_recount_all(struct table *table);
