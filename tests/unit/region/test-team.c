/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of one table as threads, so that ThreadSanitizer sees all of what they do: they enter,
 * leave and look at once. Readings come from a meter of the test, whose counts rise with each.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/collect/snapshot.h"
#include "client/region/cell.h"
#include "client/region/stretch.h"
#include "client/region/sums.h"
#include "client/region/word.h"
#include "client/report/record.h"
#include "common/clock.h"
#include "tests/unit/region/region-case.h"

/* A descriptor that is not open: nobody can be seen to have died, and members observe. */
enum { NOT_OPEN = -2 };
enum {
	MEMBERS = 4,
	REGIONS = 3,
	PASSAGES = 3000,
	SOCKETS = 2,
	METRICS = 2,
	NS_PER_SWEEP = 1000000
};

static atomic_uint_least64_t sweep;

/* --- the meter --- */

/* After sweep k metric m of socket s is at k * (s + 1) * (m + 1). */
int meter_read(struct meter *meter, struct readout *ret)
{
	const uint64_t now = atomic_fetch_add(&sweep, 1) + 1;

	(void)meter;
	ret->samples = calloc(SOCKETS, sizeof *ret->samples);
	CHECK(ret->samples);
	for (uint32_t s = 0; s < SOCKETS; s++) {
		struct uncore_sample *sample = &ret->samples[s];

		*sample = (struct uncore_sample){
			.size = sizeof *sample,
			.socket = s,
			.n_values = METRICS,
			.generation = { 1, 1 },
			.sweep = now,
			.begin_ns = now * NS_PER_SWEEP,
			.end_ns = now * NS_PER_SWEEP + 2,
		};
		for (uint32_t i = 0; i < METRICS; i++)
			sample->values[i].count = now * (s + 1) * (i + 1);
	}
	ret->n_sockets = SOCKETS;
	return 0;
}

/* --- members --- */

struct player {
	struct member member;
	pthread_t thread;
	unsigned seed;
};

static void enter(struct member *member, unsigned region, uint64_t now_ns)
{
	struct meter meter = { .table = member->table };
	struct reading reading = { .meter = &meter, .edge = region };

	cell_begin(&member->table->cells[member->slot][region], now_ns);
	if (!stretch_is_held(member->table, region))
		CHECK(stretch_enter(member, region, clock_now_ns(), &reading) == 0);
	stretch_advance_others(member, region, &reading);
	alone_enter(member->table, member->slot, region);
	reading_done(&reading);
}

static void leave(struct member *member, unsigned region, uint64_t begun_ns)
{
	struct meter meter = { .table = member->table };
	struct reading reading = { .meter = &meter, .edge = region };

	alone_leave(member->table, member->slot, region);
	cell_end(&member->table->cells[member->slot][region], begun_ns, clock_now_ns());
	CHECK(stretch_leave(member, region, clock_now_ns(), &reading) == 0);
	stretch_advance_others(member, region, &reading);
	reading_done(&reading);
}

static void *play(void *memory)
{
	struct player *player = memory;
	struct member *member = &player->member;

	for (unsigned i = 0; i < PASSAGES; i++) {
		const unsigned region = (unsigned)rand_r(&player->seed) % REGIONS;
		const uint64_t now_ns = clock_now_ns();

		enter(member, region, now_ns);
		cell_work(&member->table->cells[member->slot][region], 0, 1);
		leave(member, region, now_ns);
		if (i % 64 == 0) {
			member_look_for_dead(member);
			stretch_settle_dead(member, NULL);
		}
	}
	return NULL;
}

/* Sums never fall, and those of all sockets and metrics are of the same readings. */
static void check_region(const struct record_region *region, uint64_t *seen)
{
	const uint64_t count = region->n_sockets ? region->sockets[0].values[0].count : 0;

	assert_true(count >= *seen);
	*seen = count;
	for (uint32_t s = 0; s < region->n_sockets; s++) {
		assert_int_equal(region->sockets[s].window_ns, count * NS_PER_SWEEP);
		for (uint32_t i = 0; i < METRICS; i++)
			assert_int_equal(
				region->sockets[s].values[i].count, count * (s + 1) * (i + 1));
	}
}

static void look(const struct table *table, uint64_t seen[REGIONS])
{
	struct record record = { .host = "" };

	assert_int_equal(snapshot(table, &record), 0);
	assert_int_equal(record.n_members, MEMBERS + 1);
	for (uint32_t i = 0; i < REGIONS; i++)
		check_region(&record.regions[i], &seen[i]);
	record_done(&record);
}

/* All have gone: every passage was counted once, and every region is closed. */
static void check_end(const struct table *table, uint64_t seen[REGIONS])
{
	struct record record = { .host = "" };
	uint64_t n_passages = 0;
	double work = 0;

	look(table, seen);
	assert_int_equal(snapshot(table, &record), 0);
	for (uint32_t i = 0; i < REGIONS; i++) {
		n_passages += record.regions[i].n_passages;
		work += record.regions[i].work[0].amount;
		assert_int_equal(record.regions[i].n_open + record.regions[i].lost_ns, 0);
		assert_int_equal(word_of(table, i).holder, 0);
		assert_true(seen[i] > 0 && seen[i] <= atomic_load(&sweep));
	}
	/* The first region was open from the first reading to the last. */
	assert_int_equal(seen[0], atomic_load(&sweep) - 1);
	assert_int_equal(n_passages, MEMBERS * PASSAGES + 1);
	assert_true(work == MEMBERS * PASSAGES);
	record_done(&record);
}

CASE("threads that are members of one table enter, leave and look at once")
{
	static struct player players[MEMBERS + 1], *first = &players[MEMBERS];
	struct table *table = table_new();
	uint64_t seen[REGIONS] = {};

	assert_non_null(table);
	table->header.n_metrics = METRICS;
	table->header.n_sockets = SOCKETS;
	table->header.is_described = 1;
	for (int i = 0; i < REGIONS; i++)
		table_find_or_add(table, (char[]){ 'a' + (char)i, '\0' });
	for (unsigned i = 0; i <= MEMBERS; i++) {
		players[i].seed = i;
		assert_int_equal(member_join(&players[i].member, table, MEMBER_ALONE), 0);
		players[i].member.fd = NOT_OPEN;
	}
	enter(&first->member, 0, clock_now_ns());
	for (unsigned i = 0; i < MEMBERS; i++)
		assert_int_equal(pthread_create(&players[i].thread, NULL, play, &players[i]), 0);
	for (int i = 0; i < 1000; i++) {
		look(table, seen);
		usleep(100);
	}
	for (unsigned i = 0; i < MEMBERS; i++)
		assert_int_equal(pthread_join(players[i].thread, NULL), 0);
	leave(&first->member, 0, 0);
	for (unsigned i = 0; i <= MEMBERS; i++)
		member_leave(&players[i].member);
	check_end(table, seen);
	for (unsigned i = 0; i <= MEMBERS; i++)
		member_done(&players[i].member);
	table_unmap(table);
}
