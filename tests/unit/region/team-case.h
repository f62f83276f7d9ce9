/* SPDX-License-Identifier: BSD-3-Clause */
/* A team whose members are all in this process, and whose clock and counters a test moves. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "client/region/activity.h"
#include "client/region/cell.h"
#include "client/region/interval.h"
#include "client/region/sums.h"
#include "tests/harness/test.h"

enum { TEAM_MOST = 4, TEAM_BLOCKER = 5 };

struct game {
	struct table *table;
	struct member members[TEAM_MOST], blocker;
	uint64_t now_ns, sweep, moved; /* bytes of socket 0, of which socket 1 has twice as many */
	uint64_t generation;
	bool is_blocked; /* somebody else adds, so readings wait */
	bool is_absent;  /* the value is */
};

static inline void game_begin(struct game *game)
{
	*game = (struct game){ .now_ns = 1000000, .generation = 1 };
	game->table = table_new();
	assert_non_null(game->table);
	game->table->header.n_sockets = 2;
	game->table->header.n_metrics = 1;
	for (int i = 0; i < TEAM_MOST; i++) {
		assert_int_equal(
			member_join(&game->members[i], game->table, MEMBER_ALONE, TABLE_JOINED), 0);
		for (unsigned r = 0; r < 8; r++)
			table_use_cell(game->table, game->members[i].slot, r);
	}
	assert_int_equal(member_join(&game->blocker, game->table, MEMBER_ALONE, TABLE_JOINED), 0);
	for (unsigned r = 0; r < 8; r++)
		assert_int_equal(
			table_find_or_add(game->table, (char[]){ (char)('a' + r), '\0' }), r);
}

static inline void game_end(struct game *game)
{
	for (int i = 0; i < TEAM_MOST; i++)
		interval_done(&game->members[i]);
	table_unmap(game->table);
}

/* Somebody else adds from now on, until he does not. */
static inline void game_block(struct game *game, bool is_blocked)
{
	game->is_blocked = is_blocked;
	game->table->header.adder = is_blocked ? member_claim(&game->blocker) : 0;
}

static inline struct table_cell *game_cell(struct game *game, int member, unsigned place)
{
	return &game->table->cells[game->members[member].slot][place];
}

static inline void game_read(struct game *game, int member)
{
	struct uncore_sample samples[2] = { { .size = sizeof samples[0] },
		{ .size = sizeof samples[0] } };
	const struct readout readout = { .samples = samples, .n_sockets = 2 };

	game->sweep++;
	for (uint32_t s = 0; s < 2; s++) {
		samples[s].socket = s;
		samples[s].n_values = 1;
		samples[s].generation[0] = game->generation;
		samples[s].sweep = game->sweep;
		samples[s].begin_ns = samples[s].end_ns = game->now_ns;
		samples[s].values[0].count = game->moved * (1 + s);
		samples[s].values[0].quality = game->is_absent ? UNCORE_ABSENT : 0;
	}
	interval_add(&game->members[member], &readout);
}

/* A thread of the member is known from now on. */
static inline void game_come(struct game *game, int member)
{
	cell_begin(game_cell(game, member, TABLE_OUTSIDE), game->now_ns, game->now_ns);
}

/* At an edge the member may take a reading first, as passage.c has it. @outer: -1: none. */
static inline void game_enter(struct game *game, int member, unsigned region, int outer, bool reads)
{
	const uint64_t called_ns = game->now_ns;
	uint64_t at_ns = called_ns;

	if (reads)
		game_read(game, member);
	at_ns = reads ? interval_edge_ns(game->table, at_ns) : at_ns;
	if (outer >= 0)
		cell_run(game_cell(game, member, (unsigned)outer), -1, called_ns, at_ns);
	game->now_ns += reads * 10;
	cell_begin(game_cell(game, member, region), game->now_ns, at_ns);
}

static inline void game_leave(struct game *game, int member, unsigned region, int outer, bool reads)
{
	const uint64_t now_ns = game->now_ns;
	uint64_t at_ns = now_ns;

	if (reads)
		game_read(game, member);
	at_ns = reads ? interval_edge_ns(game->table, at_ns) : at_ns;
	game->now_ns += reads * 10;
	cell_end(game_cell(game, member, region), now_ns, now_ns, at_ns);
	if (outer >= 0)
		cell_run(game_cell(game, member, (unsigned)outer), 1, now_ns, at_ns);
}

static inline struct sums game_sums(const struct game *game, unsigned place)
{
	static struct sums sums;

	memset(&sums, 0, sizeof sums);
	sums_read(&sums, &game->table->sums[place]);
	return sums;
}
