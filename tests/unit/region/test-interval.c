/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of intervals belongs to a region, beside the truth: members pass through regions and move
 * bytes, at moments that the test knows.
 */
#include "client/region/post.h"
#include "common/macro.h"
#include "tests/unit/region/team-case.h"

#define METRIC(sums, socket) ((sums).sockets[socket].metrics[0])

static void expect(
	const struct game *game, unsigned place, uint64_t alone, uint64_t share, uint64_t all)
{
	const struct sums sums = game_sums(game, place);

	for (uint32_t s = 0; s < 2; s++) {
		assert_int_equal(METRIC(sums, s).alone, alone * (s + 1));
		assert_int_equal(METRIC(sums, s).share, share * (s + 1));
		assert_int_equal(METRIC(sums, s).all, all * (s + 1));
	}
}

/* Time passes, and bytes move. */
static void move(struct game *game, uint64_t time_ns, uint64_t bytes)
{
	game->now_ns += time_ns;
	game->moved += bytes;
}

CASE("a region whose edges are read has what moved between them, and the rest is outside")
{
	static struct game game;

	game_begin(&game);
	game_come(&game, 0);
	move(&game, 1000, 7);
	game_enter(&game, 0, 2, -1, true);
	move(&game, 1000, 100);
	game_leave(&game, 0, 2, -1, true);
	move(&game, 500, 30);
	game_enter(&game, 0, 2, -1, true);
	move(&game, 1000, 200);
	game_leave(&game, 0, 2, -1, true);
	expect(&game, 2, 300, 300, 300);
	expect(&game, TABLE_OUTSIDE, 0, 30, 30);
	assert_int_equal(game_sums(&game, 2).sockets[0].open_ns, 2020);
	assert_int_equal(game_sums(&game, 2).lost_ns, 0);
	game_end(&game);
}

CASE("of nested regions the inner one has its bytes alone, and the outer one what is left")
{
	static struct game game;

	game_begin(&game);
	game_come(&game, 0);
	game_enter(&game, 0, 0, -1, true);
	move(&game, 1000, 10);
	game_enter(&game, 0, 1, 0, true);
	move(&game, 1000, 500);
	game_leave(&game, 0, 1, 0, true);
	move(&game, 1000, 20);
	game_leave(&game, 0, 0, -1, true);
	expect(&game, 0, 30, 30, 530);
	expect(&game, 1, 500, 500, 500);
	game_end(&game);
}

CASE("edges that are not read make a bracket, which time divides")
{
	static struct game game;

	game_begin(&game);
	game_come(&game, 0);
	game_enter(&game, 0, 0, -1, true);
	for (int i = 0; i < 3; i++) {
		move(&game, 100, 10);
		game_leave(&game, 0, 0, -1, false);
		move(&game, 100, 4);
		game_enter(&game, 0, 0, -1, false);
	}
	game_leave(&game, 0, 0, -1, true);
	expect(&game, 0, 0, 42 * 310 / 610, 42); /* 10 ns passed during the first reading */
	game_end(&game);
}

CASE("two members in two regions share by their time; a third one outside takes part")
{
	static struct game game;

	game_begin(&game);
	for (int i = 0; i < 3; i++)
		game_come(&game, i);
	game_read(&game, 0);
	game_enter(&game, 0, 0, -1, false);
	game_enter(&game, 1, 1, -1, false);
	move(&game, 3000, 900);
	game_read(&game, 2);
	expect(&game, 0, 0, 300, 900);
	expect(&game, 1, 0, 300, 900);
	expect(&game, TABLE_OUTSIDE, 0, 300, 900);
	game_end(&game);
}

CASE("a region is alone although members come a little later than others")
{
	static struct game game;

	game_begin(&game);
	for (int i = 0; i < 3; i++)
		game_come(&game, i);
	game_enter(&game, 0, 0, -1, true);
	move(&game, 10, 0);
	game_enter(&game, 1, 0, -1, false);
	game_enter(&game, 2, 0, -1, false);
	move(&game, 9980, 3000); /* the interval has 10,000 ns, with those of the first reading */
	game_read(&game, 1);
	expect(&game, 0, 2996, 2996, 3000);
	move(&game, 1000, 600);
	game_leave(&game, 0, 0, -1, false);
	move(&game, 1000, 600);
	game_read(&game, 1);
	expect(&game, 0, 2996, 2996 + 1000, 4200);
	game_end(&game);
}

/* The thread moves 50 of its own, and the span 30. */
CASE("a region with spans is not alone, because threads go on outside of them")
{
	static struct game game;

	game_begin(&game);
	game_come(&game, 0);
	game.table->regions[2].has_spans = 1;
	game_enter(&game, 0, 2, -1, true);
	move(&game, 1000, 30 + 50);
	game_leave(&game, 0, 2, -1, true);
	expect(&game, 2, 0, 80, 80);
	game_end(&game);
}

/* Both readings are added together, after all has happened. */
CASE("what waits is added in the order of its time, and no region gets the other's bytes")
{
	static struct game game;

	game_begin(&game);
	game_come(&game, 0);
	game_come(&game, 1);
	game_read(&game, 0);
	game_block(&game, true);
	move(&game, 1000, 5);
	game_enter(&game, 0, 0, -1, true);
	move(&game, 1000, 100);
	game_leave(&game, 0, 0, -1, true);
	move(&game, 1000, 7);
	game_enter(&game, 1, 1, -1, true);
	move(&game, 1000, 30);
	game_leave(&game, 1, 1, -1, true);
	expect(&game, 0, 0, 0, 0);
	game_block(&game, false);
	game_read(&game, 1);
	assert_int_equal(METRIC(game_sums(&game, 0), 0).all, 100);
	assert_int_equal(METRIC(game_sums(&game, 1), 0).all, 30);
	game_end(&game);
}

static void read_sockets(struct game *game, const uint64_t sweeps[2], const uint64_t at_ns[2],
	const uint64_t moved[2])
{
	struct uncore_sample samples[2] = { { .size = sizeof samples[0] },
		{ .size = sizeof samples[0] } };
	const struct readout readout = { .samples = samples, .n_sockets = 2 };

	for (uint32_t s = 0; s < 2; s++) {
		samples[s].socket = s;
		samples[s].n_values = 1;
		samples[s].generation[0] = game->generation;
		samples[s].sweep = sweeps[s];
		samples[s].begin_ns = samples[s].end_ns = at_ns[s];
		samples[s].values[0].count = moved[s];
	}
	interval_add(&game->members[0], &readout);
}

/* The second reading ends later, but has an earlier sweep of socket 0. */
CASE("what a socket moved is added once, in whatever order two readings swept the sockets")
{
	static struct game game;

	game_begin(&game);
	game_come(&game, 0);
	read_sockets(&game, (uint64_t[]){ 1, 1 }, (uint64_t[]){ 1000000, 1000000 },
		(uint64_t[]){ 0, 0 });
	read_sockets(&game, (uint64_t[]){ 3, 2 }, (uint64_t[]){ 1005000, 1002000 },
		(uint64_t[]){ 50, 20 });
	read_sockets(&game, (uint64_t[]){ 2, 3 }, (uint64_t[]){ 1001000, 1010000 },
		(uint64_t[]){ 10, 100 });
	read_sockets(&game, (uint64_t[]){ 4, 4 }, (uint64_t[]){ 1020000, 1020000 },
		(uint64_t[]){ 200, 200 });
	assert_int_equal(METRIC(game_sums(&game, TABLE_OUTSIDE), 0).share, 200);
	assert_int_equal(METRIC(game_sums(&game, TABLE_OUTSIDE), 1).share, 200);
	game_end(&game);
}

/* The first reading waits until the other member has come in, after a reading of its own. */
CASE("a region that begins while another member adds has lost nothing: no thread was inside yet")
{
	static struct game game;
	uint64_t called_ns;

	game_begin(&game);
	game_come(&game, 0);
	game_come(&game, 1);
	game_block(&game, true);
	called_ns = game.now_ns;
	move(&game, 50000, 0);
	game_read(&game, 1);
	move(&game, 1000, 0);
	game_read(&game, 0);
	cell_begin(game_cell(&game, 0, 0), game.now_ns, interval_edge_ns(game.table, called_ns));
	game_block(&game, false);
	move(&game, 1000, 10);
	game_leave(&game, 0, 0, -1, true);
	assert_int_equal(game_sums(&game, 0).lost_ns, 0);
	assert_int_equal(METRIC(game_sums(&game, 0), 0).all, 10);
	game_end(&game);
}

/* The first member goes from one region to another. */
static void go_on(struct game *game, unsigned old, unsigned new, uint64_t at_ns)
{
	cell_end(game_cell(game, 0, old), 0, at_ns, at_ns);
	cell_begin(game_cell(game, 0, new), at_ns, at_ns);
}

/* Both members are in region 0, but for the time in which one of them moves 30 bytes of each socket
 * in region 1: after the one sweep of the second reading, and before the other. */
static void pass_beside_reading(struct game *game, uint64_t from_ns, uint64_t to_ns)
{
	const uint64_t sweeps_ns[] = { 2000000, 2010000 };

	read_sockets(
		game, (uint64_t[]){ 1, 1 }, (uint64_t[]){ 1000000, 1000000 }, (uint64_t[]){ 0, 0 });
	for (int i = 0; i < 2; i++)
		cell_begin(game_cell(game, i, 0), 1000001, 1000000);
	go_on(game, 0, 1, from_ns);
	if (to_ns < sweeps_ns[1])
		go_on(game, 1, 0, to_ns);
	read_sockets(game, (uint64_t[]){ 2, 2 }, sweeps_ns, (uint64_t[]){ 0, 30 });
	if (to_ns > sweeps_ns[1])
		go_on(game, 1, 0, to_ns);
	read_sockets(game, (uint64_t[]){ 3, 3 }, (uint64_t[]){ 3000000, 3000000 },
		(uint64_t[]){ 30, 30 });
}

CASE("a reading takes time, and what moved meanwhile is in the region's all, and not alone "
     "another's")
{
	static const uint64_t times_ns[][2] = { { 1500000, 2004000 }, { 1500000, 2006000 },
		{ 2004000, 2500000 }, { 2006000, 2500000 }, { 2004000, 2004500 } };
	static struct game game;

	for (size_t i = 0; i < ARRAY_SIZE(times_ns); i++) {
		game_begin(&game);
		for (int member = 0; member < 2; member++)
			game_come(&game, member);
		pass_beside_reading(&game, times_ns[i][0], times_ns[i][1]);
		for (int s = 0; s < 2; s++) {
			assert_int_equal(METRIC(game_sums(&game, 1), s).all, 30);
			assert_int_equal(METRIC(game_sums(&game, 0), s).alone, 0);
		}
		game_end(&game);
	}
}

CASE("the first reading waits for as long as it takes, and what moved since then is not lost")
{
	static struct game game;

	game_begin(&game);
	game_come(&game, 0);
	game_block(&game, true);
	game_enter(&game, 0, 0, -1, true);
	for (int i = 0; i < 2 * TABLE_POSTS; i++) {
		move(&game, 1000, 10);
		game_read(&game, 1);
	}
	game_block(&game, false);
	move(&game, 1000, 10);
	game_leave(&game, 0, 0, -1, true);
	expect(&game, 0, 20 * TABLE_POSTS + 10, 20 * TABLE_POSTS + 10, 20 * TABLE_POSTS + 10);
	assert_int_equal(game_sums(&game, 0).lost_ns, 0);
	game_end(&game);
}

CASE("a reading that finds no place makes one interval of two, and the places of the dead are free")
{
	static struct game game;

	game_begin(&game);
	game_come(&game, 0);
	game_read(&game, 0);
	for (int i = 0; i < TABLE_POSTS; i++)
		game.table->posts[i].at_ns = POST_WRITTEN | member_claim(&game.blocker);
	move(&game, 1000, 10);
	game_read(&game, 0);
	expect(&game, TABLE_OUTSIDE, 0, 0, 0);
	game.table->slots[game.blocker.slot].state = TABLE_DIED;
	move(&game, 1000, 10);
	game_read(&game, 0);
	expect(&game, TABLE_OUTSIDE, 0, 20, 20);
	game_end(&game);
}

CASE("a passage after the end of an interval, which is over when this is added, is in the next one")
{
	static struct game game;

	game_begin(&game);
	game_come(&game, 0);
	game_come(&game, 1);
	game_enter(&game, 0, 0, -1, true);
	move(&game, 1000, 100);
	game_block(&game, true);
	game_read(&game, 0);
	move(&game, 1000, 0);
	game_enter(&game, 1, 1, -1, false);
	move(&game, 1000, 30);
	game_leave(&game, 1, 1, -1, false);
	game_leave(&game, 0, 0, -1, false);
	game_block(&game, false);
	interval_finish(&game.members[0]);
	assert_int_equal(METRIC(game_sums(&game, 0), 0).all, 100);
	assert_int_equal(METRIC(game_sums(&game, 1), 0).all, 0);
	assert_true(activity_is_unread(game.table));
	move(&game, 1000, 0);
	game_read(&game, 1);
	assert_int_equal(METRIC(game_sums(&game, 0), 0).all, 130);
	assert_int_equal(METRIC(game_sums(&game, 1), 0).all, 30);
	assert_int_equal(METRIC(game_sums(&game, 1), 0).share, 30 * 1000 / 6000);
	game_end(&game);
}

CASE("what moved while uncored began anew is lost, and said to be")
{
	static struct game game;
	struct sums sums;

	game_begin(&game);
	game_come(&game, 0);
	game_enter(&game, 0, 0, -1, true);
	move(&game, 1000, 100);
	game_read(&game, 1);
	move(&game, 5000, 100);
	game.generation = 2;
	game.moved = 0;
	game_read(&game, 1);
	move(&game, 1000, 40);
	game_leave(&game, 0, 0, -1, true);
	expect(&game, 0, 140, 140, 140);
	sums = game_sums(&game, 0);
	assert_int_equal(sums.lost_ns, 5000);
	game_end(&game);
}

CASE("a region that was open before the first reading has lost that time")
{
	static struct game game;

	game_begin(&game);
	game_come(&game, 0);
	game_enter(&game, 0, 0, -1, false);
	move(&game, 1000, 100);
	assert_int_equal(activity_unread_ns(game.table, 0, game.now_ns), 1000);
	game_read(&game, 0);
	move(&game, 1000, 40);
	game_leave(&game, 0, 0, -1, true);
	expect(&game, 0, 40, 40, 40);
	assert_int_equal(game_sums(&game, 0).lost_ns, 1000);
	assert_false(activity_is_unread(game.table));
	game_end(&game);
}

CASE("a region is absent if a value was while it was open, and only then")
{
	static struct game game;

	game_begin(&game);
	game_come(&game, 0);
	game_enter(&game, 0, 0, -1, true);
	move(&game, 1000, 100);
	game_leave(&game, 0, 0, -1, true);
	game_enter(&game, 0, 1, -1, true);
	move(&game, 1000, 100);
	game.is_absent = true;
	game_leave(&game, 0, 1, -1, true);
	assert_int_equal(METRIC(game_sums(&game, 0), 0).quality, 0);
	assert_int_equal(METRIC(game_sums(&game, 1), 0).quality, UNCORE_ABSENT);
	game_end(&game);
}

CASE("a member that died has left when it is known, and its place may have a new owner")
{
	static struct game game;
	uint64_t *phase;

	game_begin(&game);
	game_come(&game, 0);
	game_enter(&game, 0, 0, -1, true);
	move(&game, 1000, 100);
	phase = &game.table->slots[game.members[0].slot].state;
	*phase = (*phase & ~(uint64_t)0xff) | TABLE_DIED;
	assert_true(activity_is_unread(game.table));
	game_read(&game, 1);
	expect(&game, 0, 100, 100, 100);
	assert_false(activity_is_unread(game.table));
	move(&game, 1000, 30);
	game_read(&game, 1);
	expect(&game, 0, 100, 100, 100);
	assert_int_equal(
		cell_bury(game_cell(&game, 0, 0), &game.table->seen[game.members[0].slot][0]), 1);
	*phase = game.members[0].state;
	game_enter(&game, 0, 0, -1, true);
	move(&game, 1000, 40);
	game_leave(&game, 0, 0, -1, true);
	assert_int_equal(METRIC(game_sums(&game, 0), 0).all, 140);
	game_end(&game);
}

/* --- by chance --- */

enum { REGIONS = 4, STEPS = 400, GAMES = 500, DEPTH = 3 };

struct player {
	unsigned depth;
	int stack[DEPTH];
};

struct truth {
	uint64_t moved[REGIONS];
	bool is_clean; /* nothing moves outside */
};

static int innermost(const struct player *player)
{
	return player->depth ? player->stack[player->depth - 1] : -1;
}

static void step(struct game *game, struct player *player, int member, struct truth *truth)
{
	const uint64_t time_ns = (uint64_t)rand() % 2000 + 1, bytes = (uint64_t)rand() % 1000;
	const bool reads = rand() % 3 == 0;
	const int top = innermost(player);

	switch (rand() % 5) {
	case 0:
		if (player->depth == DEPTH)
			break;
		player->stack[player->depth++] = rand() % REGIONS;
		game_enter(game, member, (unsigned)innermost(player), top, reads);
		break;
	case 1:
		if (!player->depth)
			break;
		player->depth--;
		game_leave(game, member, (unsigned)top, innermost(player), reads);
		break;
	case 2:
		if (top < 0 && truth->is_clean)
			break;
		move(game, time_ns, bytes);
		if (top >= 0)
			truth->moved[top] += bytes;
		break;
	case 3:
		game_block(game, rand() % 2);
		if (!game->is_blocked)
			interval_finish(&game->members[member]);
		break;
	default:
		move(game, time_ns, 0);
		if (reads)
			game_read(game, member);
	}
}

static void check(const struct game *game, const struct truth *truth, uint64_t total)
{
	uint64_t shares = METRIC(game_sums(game, TABLE_OUTSIDE), 1).share;

	for (unsigned r = 0; r < REGIONS; r++) {
		const struct sums sums = game_sums(game, r);
		const struct table_sum *sum = &METRIC(sums, 1);

		if (truth->is_clean)
			assert_in_range(sum->alone, 0, 2 * truth->moved[r]);
		assert_in_range(2 * truth->moved[r], 0, sum->all);
		assert_in_range(sum->share, sum->alone, sum->all);
		assert_int_equal(sums.lost_ns, 0);
		shares += sum->share;
	}
	assert_int_equal(shares, 2 * total);
}

static void play(unsigned seed)
{
	static struct game game;
	struct player players[TEAM_MOST] = {};
	struct truth truth = { .is_clean = seed % 2 };

	srand(seed);
	game_begin(&game);
	for (int i = 0; i < TEAM_MOST; i++)
		game_come(&game, i);
	game_read(&game, 0);
	for (int i = 0; i < STEPS; i++) {
		const int member = rand() % TEAM_MOST;

		step(&game, &players[member], member, &truth);
	}
	game_block(&game, false);
	move(&game, 1, 0);
	game_read(&game, 0);
	check(&game, &truth, game.moved);
	game_end(&game);
}

CASE("whatever members do and whenever readings are added, the truth lies between alone and all")
{
	for (unsigned seed = 0; seed < GAMES; seed++)
		play(seed);
}
