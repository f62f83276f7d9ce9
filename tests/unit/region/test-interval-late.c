/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of intervals belongs to a region, beside the truth, where calls take time: a thread goes
 * through an edge in steps, and all others go on between them. It is called, the sockets are swept
 * one after the other, and perhaps much later it adds the reading and writes its cells.
 */
#include "client/region/interval.h"
#include "common/macro.h"
#include "tests/unit/region/team-case.h"

enum { REGIONS = 4, THREADS = 8, STEPS = 400, GAMES = 1000, DEPTH = 3, SOCKETS = 2, NOWHERE = -1 };

/* What a thread does at an edge; each is one step. */
enum progress { IDLE, CALLED, SWEPT_ONE, SWEPT_ALL };

struct thread {
	int member;
	unsigned depth;
	int stack[DEPTH];
	enum progress progress;
	bool begins, reads;
	int lag;    /* of the steps: one in so many turns */
	int region; /* that it begins; NOWHERE: it only reads */
	uint64_t called_ns;
	struct uncore_sample samples[SOCKETS];
};

static struct game game;
static struct thread threads[THREADS];
static uint64_t moved[SOCKETS], truth[REGIONS][SOCKETS];
static bool is_clean; /* nothing moves outside */

static int innermost(const struct thread *thread)
{
	return thread->depth ? thread->stack[thread->depth - 1] : NOWHERE;
}

static void wait_a_little(void)
{
	game.now_ns += (uint64_t)rand() % 2000 + 1;
}

static void move_bytes(const struct thread *thread)
{
	const int socket = rand() % SOCKETS, top = innermost(thread);
	const uint64_t bytes = (uint64_t)rand() % 1000;

	if (top == NOWHERE && is_clean)
		return;
	moved[socket] += bytes;
	if (top != NOWHERE)
		truth[top][socket] += bytes;
}

/* --- an edge --- */

static void sweep(struct thread *thread, uint32_t socket)
{
	struct uncore_sample *sample = &thread->samples[socket];

	*sample = (struct uncore_sample){ .size = sizeof *sample, .socket = socket, .n_values = 1 };
	sample->generation[0] = game.generation;
	sample->sweep = ++game.sweep;
	sample->begin_ns = game.now_ns;
	sample->end_ns = game.now_ns;
	sample->values[0].count = moved[socket];
}

static uint64_t add(struct thread *thread)
{
	const struct readout readout = { .samples = thread->samples, .n_sockets = SOCKETS };

	interval_add(&game.members[thread->member], &readout);
	return interval_edge_ns(game.table, thread->called_ns);
}

static void run(const struct thread *thread, int region, int change, uint64_t at_ns)
{
	if (region != NOWHERE)
		cell_run(game_cell(&game, thread->member, (unsigned)region), change,
			thread->called_ns, at_ns);
}

static void cross(struct thread *thread)
{
	const uint64_t at_ns = thread->reads ? add(thread) : thread->called_ns;
	const unsigned place = (unsigned)thread->region;

	if (thread->begins) {
		run(thread, innermost(thread), -1, at_ns);
		cell_begin(game_cell(&game, thread->member, place),
			thread->reads ? game.now_ns : thread->called_ns, at_ns);
		thread->stack[thread->depth++] = thread->region;
	} else if (thread->region != NOWHERE) {
		cell_end(game_cell(&game, thread->member, place), thread->called_ns,
			thread->called_ns, at_ns);
		thread->depth--;
		run(thread, innermost(thread), 1, at_ns);
	}
	thread->progress = IDLE;
}

static void go_on(struct thread *thread)
{
	if (thread->progress == CALLED && thread->reads)
		sweep(thread, 0);
	else if (thread->progress == SWEPT_ONE && thread->reads)
		sweep(thread, 1);
	else if (thread->progress == SWEPT_ALL)
		cross(thread);
	if (thread->progress != IDLE)
		thread->progress++;
}

static void call(struct thread *thread, bool begins, int region)
{
	thread->progress = CALLED;
	thread->begins = begins;
	thread->region = region;
	thread->reads = region == NOWHERE || rand() % 3 == 0;
	thread->called_ns = game.now_ns;
	thread->lag = 1 + rand() % 2 * (rand() % 60);
}

/* --- a game --- */

static void act(struct thread *thread)
{
	switch (rand() % 6) {
	case 0:
		if (thread->depth < DEPTH)
			call(thread, true, rand() % REGIONS);
		break;
	case 1:
		if (thread->depth)
			call(thread, false, innermost(thread));
		break;
	case 2:
		call(thread, false, NOWHERE);
		break;
	default:
		move_bytes(thread);
	}
}

static void step_of(struct thread *thread)
{
	wait_a_little();
	if (thread->progress == IDLE)
		act(thread);
	else if (rand() % thread->lag == 0)
		go_on(thread);
}

static void check(void)
{
	const struct sums outside = game_sums(&game, TABLE_OUTSIDE);

	for (int s = 0; s < SOCKETS; s++) {
		uint64_t shares = outside.sockets[s].metrics[0].share;

		for (unsigned r = 0; r < REGIONS; r++) {
			const struct sums sums = game_sums(&game, r);
			const struct table_sum *sum = &sums.sockets[s].metrics[0];

			if (is_clean)
				assert_in_range(sum->alone, 0, truth[r][s]);
			assert_in_range(truth[r][s], 0, sum->all);
			assert_in_range(sum->share, sum->alone, sum->all);
			assert_int_equal(sums.lost_ns, 0);
			shares += sum->share;
		}
		assert_int_equal(shares, moved[s]);
	}
}

static void finish(void)
{
	struct thread last = { .region = NOWHERE, .reads = true };

	for (int i = 0; i < THREADS; i++)
		while (threads[i].progress != IDLE)
			go_on(&threads[i]);
	last.called_ns = ++game.now_ns;
	sweep(&last, 0);
	sweep(&last, 1);
	add(&last);
}

static void play(int seed)
{
	srand((unsigned)seed);
	is_clean = seed % 2;
	memset(threads, 0, sizeof threads);
	memset(moved, 0, sizeof moved);
	memset(truth, 0, sizeof truth);
	game_begin(&game);
	for (int i = 0; i < THREADS; i++) {
		threads[i].member = i % TEAM_MOST;
		game_come(&game, threads[i].member);
	}
	game_read(&game, 0);
	for (int i = 0; i < STEPS; i++)
		step_of(&threads[rand() % THREADS]);
	finish();
	check();
	game_end(&game);
}

CASE("a thread may wait at any step of a call, and the truth lies between alone and all")
{
	for (int seed = 0; seed < GAMES; seed++)
		play(seed);
}

/* --- in an order that is known --- */

/* Reads both sockets at the same moment, and adds it now. */
static void read_at(uint64_t at_ns, uint64_t bytes)
{
	static struct thread reader;

	game.now_ns = at_ns;
	moved[0] = moved[1] = bytes;
	reader.called_ns = at_ns;
	sweep(&reader, 0);
	sweep(&reader, 1);
	add(&reader);
}

static void begin(int n_members)
{
	memset(moved, 0, sizeof moved);
	game_begin(&game);
	for (int i = 0; i < n_members; i++)
		game_come(&game, i);
	read_at(1000000, 0);
}

static void come(int member, unsigned place, uint64_t at_ns)
{
	cell_begin(game_cell(&game, member, place), at_ns, at_ns);
}

static void go(int member, unsigned place, uint64_t at_ns)
{
	cell_end(game_cell(&game, member, place), at_ns, at_ns, at_ns);
}

static struct table_sum sum_of(unsigned place)
{
	return game_sums(&game, place).sockets[0].metrics[0];
}

CASE("two readings that are added late have a passage between them, also if a later one is over")
{
	begin(2);
	come(1, 0, 1012000);
	go(1, 0, 1015000);
	come(1, 0, 1030000);
	go(1, 0, 1035000);
	read_at(1010000, 0);
	read_at(1020000, 30);
	assert_int_equal(sum_of(0).all, 30);
	game_end(&game);
}

/* The first thread was called before the other one left, and takes a reading meanwhile. */
CASE("a thread that waits for its reading at the end does not hide those that leave before it")
{
	begin(1);
	come(0, 0, 1001000);
	come(0, 0, 1001000);
	read_at(1011000, 0);
	go(0, 0, 1015000);
	cell_end(game_cell(&game, 0, 0), 1010000, 1010000, 1011000);
	read_at(1020000, 30);
	assert_int_equal(sum_of(0).all, 30);
	game_end(&game);
}

/* Two threads are known, one of which stays outside. */
CASE("a passage has its own time only in one thread, and does not hide that another was outside")
{
	begin(1);
	game_come(&game, 0);
	come(0, 0, 1000500);
	read_at(1010000, 0);
	go(0, 0, 1030000);
	read_at(1015000, 30);
	assert_int_equal(sum_of(0).share, 15);
	assert_int_equal(sum_of(0).alone, 0);
	game_end(&game);
}

CASE("each span counts as a thread, and those that ended do not count later")
{
	begin(2);
	game.table->regions[1].has_spans = 1;
	come(0, 0, 1000000);
	for (int i = 0; i < 9; i++)
		come(1, 1, 1000000);
	read_at(1010000, 100);
	assert_int_equal(sum_of(0).share, 10);
	assert_int_equal(sum_of(1).share, 90);
	for (int i = 0; i < 9; i++)
		go(1, 1, 1010000);
	read_at(1010010, 100);
	come(1, 1, 1010010);
	go(1, 1, 1011010);
	read_at(1020010, 300);
	assert_int_equal(sum_of(1).share, 90 + 200 / 20);
	game_end(&game);
}

CASE("a thread outside may have moved all that a span may, so outside was open")
{
	begin(1);
	game.table->regions[0].has_spans = 1;
	come(0, 0, 1000000);
	read_at(1010000, 50);
	assert_int_equal(sum_of(0).all, 50);
	assert_int_equal(sum_of(0).alone, 0);
	assert_int_equal(sum_of(TABLE_OUTSIDE).all, 50);
	game_end(&game);
}

/* --- what is lost --- */

static void pass_often(int member, unsigned place)
{
	for (int i = 0; i < 3; i++) {
		const uint64_t begun_ns = game.now_ns;

		come(member, place, begun_ns);
		game.now_ns += 1000;
		cell_end(game_cell(&game, member, place), begun_ns, game.now_ns, game.now_ns);
		game.now_ns += 500;
	}
}

CASE("of all passages while uncored began anew the time is lost, not only of the last one")
{
	begin(2);
	pass_often(0, 0);
	game.generation = 2;
	read_at(game.now_ns, 0);
	assert_int_equal(game_sums(&game, 0).lost_ns, 3000);
	assert_int_equal(activity_unread_ns(game.table, 0, game.now_ns), 0);
	come(0, 0, game.now_ns);
	pass_often(1, 0);
	game.generation = 3;
	read_at(game.now_ns, 0);
	assert_int_equal(game_sums(&game, 0).lost_ns, 3000 + 4500);
	game_end(&game);
}

CASE("... and of those that no reading has followed yet")
{
	begin(1);
	pass_often(0, 0);
	assert_int_equal(activity_unread_ns(game.table, 0, game.now_ns), 3000);
	come(0, 0, game.now_ns);
	assert_int_equal(activity_unread_ns(game.table, 0, game.now_ns + 10), 3010);
	game_end(&game);
}
