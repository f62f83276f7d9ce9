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
#include "client/region/interval.h"
#include "client/region/meter.h"
#include "client/report/record.h"
#include "common/clock.h"
#include "tests/unit/region/region-case.h"

/* A descriptor that is not open: nobody can be seen to have died, and members observe. */
enum { NOT_OPEN = -2 };
enum { MEMBERS = 4, REGIONS = 3, PASSAGES = 3000, SOCKETS = 2, METRICS = 2 };

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
			.begin_ns = clock_now_ns(),
			.end_ns = clock_now_ns(),
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

static uint64_t read_at(struct member *member)
{
	struct meter meter = { .table = member->table };
	struct readout readout = { .n_sockets = 0 };
	const uint64_t now_ns = clock_now_ns();

	CHECK(meter_read(&meter, &readout) == 0);
	interval_add(member, &readout);
	readout_done(&readout);
	return interval_edge_ns(member->table, now_ns);
}

static void enter(struct member *member, unsigned region, uint64_t now_ns)
{
	const uint64_t at_ns = read_at(member);

	cell_begin(&member->table->cells[member->slot][region], now_ns, at_ns);
}

static void leave(struct member *member, unsigned region, uint64_t begun_ns)
{
	const uint64_t now_ns = clock_now_ns();

	cell_end(&member->table->cells[member->slot][region], begun_ns, now_ns, read_at(member));
}

/* As passage_work() does: others read it at any time. */
static void add_work(double *work)
{
	const double sum = *work + 1;

	__atomic_store(work, &sum, __ATOMIC_RELAXED);
}

static void *play(void *memory)
{
	struct player *player = memory;
	struct member *member = &player->member;

	for (unsigned i = 0; i < PASSAGES; i++) {
		const unsigned region = (unsigned)rand_r(&player->seed) % REGIONS;
		const uint64_t now_ns = clock_now_ns();

		enter(member, region, now_ns);
		add_work(&member->table->works[member->slot][region].work[0]);
		leave(member, region, now_ns);
		if (i % 64 == 0)
			member_look_for_dead(member);
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
	for (int i = 0; i < REGIONS; i++) {
		table_find_or_add(table, (char[]){ 'a' + (char)i, '\0' });
		table->regions[i].has_sums = 1;
	}
	for (unsigned i = 0; i <= MEMBERS; i++) {
		players[i].seed = i;
		assert_int_equal(
			member_join(&players[i].member, table, MEMBER_ALONE, TABLE_JOINED), 0);
		players[i].member.fd = NOT_OPEN;
		for (unsigned r = 0; r < REGIONS; r++)
			table_use_cell(table, players[i].member.slot, r);
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
		interval_done(&players[i].member);
	table_unmap(table);
}
