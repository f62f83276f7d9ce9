/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of a team, into which another program writes what it likes between the steps of two
 * members and of a process that looks. Figures are wrong then. No step may crash, or go on for
 * ever.
 *
 * The input is a row of steps; a write takes a place and 8 bytes. Of the table only its beginnings
 * are written: the header, and the first of
 * its arrays.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/collect/snapshot.h"
#include "client/region/activity.h"
#include "client/region/cell.h"
#include "client/region/interval.h"
#include "client/region/member.h"
#include "client/region/meter.h"
#include "client/region/pace.h"
#include "client/region/state.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "common/clock.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

/* A descriptor that is not open: nobody can be seen to have died, and members observe. */
enum { NOT_OPEN = -2 };
enum { STEPS_MAX = 200, MEMBERS = 2, PLACES = 4, SOCKETS = 2, METRICS = 3, HEADER_BYTES = 8192 };

static struct {
	struct table *table;
	struct member members[MEMBERS];
	uint64_t sweep;
	bool fails; /* the next reading */
	FILE *nowhere;
} all;

/* --- the meter --- */

int meter_read(struct meter *meter, struct readout *ret)
{
	(void)meter;
	if (all.fails)
		return error_say(-ECONNREFUSED, "There is no reading.");
	ret->samples = calloc(SOCKETS, sizeof *ret->samples);
	if (!ret->samples)
		abort();
	all.sweep++;
	for (uint32_t s = 0; s < SOCKETS; s++) {
		ret->samples[s] = (struct uncore_sample){
			.size = sizeof *ret->samples,
			.socket = s,
			.n_values = METRICS,
			.generation = { 1 + all.sweep / 50, 1 },
			.sweep = all.sweep,
			.begin_ns = all.sweep * 1000000,
			.end_ns = all.sweep * 1000000 + 10,
			.values[0].count = all.sweep * 64,
			.values[2].quality = UNCORE_ABSENT,
		};
	}
	ret->n_sockets = SOCKETS;
	return 0;
}

/* --- the other program --- */

static uint64_t take_number(void)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < sizeof number; i++)
		number = number << 8 | take_byte();
	return number;
}

static void write_any(void)
{
	const uint8_t part = take_byte(), index = take_byte();
	unsigned word = take_byte(), words;
	void *place;

	word = word << 8 | take_byte();
	if (part & 128) /* far in */
		word = word << 8 | index;
	switch (part % 9) {
	case 0:
		place = all.table;
		words = HEADER_BYTES;
		break;
	case 1:
		place = &all.table->slots[index % PLACES];
		words = sizeof(struct table_slot);
		break;
	case 2:
		place = &all.table->regions[index % PLACES];
		words = sizeof(struct table_region);
		break;
	case 3:
		place = &all.table->cells[index / PLACES % PLACES][index % PLACES];
		words = sizeof(struct table_cell);
		break;
	case 4:
		place = &all.table->intervals[index % 2];
		words = sizeof(struct table_interval);
		break;
	case 5:
		place = &all.table->posts[index % PLACES];
		words = sizeof(struct table_post);
		break;
	case 6:
		place = &all.table->seen[index / PLACES % PLACES][index % PLACES];
		words = sizeof(struct table_seen);
		break;
	case 7:
		place = &all.table->works[index / PLACES % PLACES][index % PLACES];
		words = sizeof(struct table_work);
		break;
	default:
		place = &all.table->sums[index % 8 ? index % PLACES : TABLE_OUTSIDE];
		words = offsetof(struct table_sums, sockets[SOCKETS]);
	}
	((uint64_t *)place)[word % (words / sizeof(uint64_t))] = take_number();
}

/* --- the members --- */

static struct table_cell *own_cell(struct member *member, unsigned place)
{
	return &all.table->cells[member->slot][place];
}

/* When a thread that takes a reading now comes or goes. */
static uint64_t take_reading(struct member *member)
{
	struct meter meter = { .table = member->table };
	struct readout readout = { .n_sockets = 0 };

	if (meter_read(&meter, &readout) == 0)
		interval_add(member, &readout);
	readout_done(&readout);
	return interval_edge_ns(member->table, all.sweep * 1000000);
}

static void enter(struct member *member, unsigned region)
{
	const bool reads = table_is_only(member->table, member->slot, region) ||
			   pace_is_due(member->table, all.sweep * 1000000);

	table_use_cell(member->table, member->slot, region);
	cell_run(own_cell(member, region + 1), -1, all.sweep * 1000000, all.sweep * 1000000);
	cell_begin(own_cell(member, region), all.sweep * 1000000, reads ? take_reading(member) : 0);
}

static void leave(struct member *member, unsigned region)
{
	const bool reads = table_is_only(member->table, member->slot, region) ||
			   pace_is_long(member->table, 1, 1, all.sweep * 1000000);

	cell_end(own_cell(member, region), 1, all.sweep, reads ? take_reading(member) : all.sweep);
	cell_run(own_cell(member, region + 1), 1, all.sweep * 1000000, all.sweep * 1000000);
	pace_add_cost(member->table, 1000);
}

static void abandon(struct member *member, unsigned region)
{
	cell_abandon(own_cell(member, region), 1, all.sweep);
	cell_abandon_all(own_cell(member, region), all.sweep);
	activity_is_unread(member->table);
	activity_unread_ns(member->table, region, all.sweep * 1000000);
}

/* A change of a state, of which the first regions are the rows. */
static void turn(struct member *member)
{
	const uint8_t what = take_byte();
	struct state_turn turn = { .state = state_at(all.table, 0),
		.part = 1,
		.before = what % 3,
		.now = what / 3 % 3,
		.now_ns = all.sweep * 1000000 };

	for (int i = 0; i < STATE_ROWS; i++) {
		table_find_or_add(all.table, (char[]){ (char)('a' + i), '\0' });
		all.table->regions[i].row |= state_row_of(0, i);
	}
	turn.state->first |= 1;
	turn.state->part |= 2;
	if (state_turns_class(&turn) && what / 9 % 2)
		take_reading(member);
	state_turn(all.table->cells[member->slot], &turn);
	state_recount_all(all.table);
}

static void come(struct member *member)
{
	if (member_join(member, all.table, MEMBER_ALONE, TABLE_JOINED) < 0) {
		all.table->slots[0].state = 0; /* that all are taken was a lie */
		if (member_join(member, all.table, MEMBER_ALONE, TABLE_JOINED) < 0)
			abort();
	}
	member->fd = NOT_OPEN;
}

static void come_again(struct member *member)
{
	member_leave(member);
	member_let_go(member);
	interval_done(member);
	come(member);
}

static void look_around(struct member *member)
{
	member_look_for_dead(member);
	member_should_look(member, take_number());
	member_check(member);
}

static void work(struct member *member, unsigned region)
{
	const char name[] = { (char)('a' + take_byte() % PLACES), '\0' };
	int index = table_find_or_add(all.table, name), unit;

	if (index < 0)
		return;
	unit = table_find_or_add_unit(all.table, region, name);
	if (unit >= 0)
		all.table->works[member->slot][region].work[unit]++;
	cell_excess(&all.table->cells[member->slot][index]);
	table_keep_failure(all.table, name);
	table_keep_why(all.table, region, name);
}

static void look(void)
{
	struct record record = { .host = "" };
	char *text = NULL;

	if (snapshot(all.table, &record) == 0 && record_json(&record, &text) == 0) {
		record_print(all.nowhere, &record);
		free(text);
	}
	record_done(&record);
}

static void step(void)
{
	const uint8_t kind = take_byte();
	const unsigned region = kind >> 4 & (PLACES - 1);
	struct member *member = &all.members[kind >> 6 & 1];

	all.fails = kind >> 7;
	switch (kind & 15) {
	case 0:
		enter(member, region);
		break;
	case 1:
		leave(member, region);
		break;
	case 2:
		abandon(member, region);
		break;
	case 3:
		take_reading(member);
		break;
	case 4:
		come_again(member);
		break;
	case 5:
		look_around(member);
		break;
	case 6:
		work(member, region);
		break;
	case 7:
		look();
		break;
	case 15:
		turn(member);
		break;
	default:
		write_any();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	input.data = data;
	input.size_bytes = size_bytes;
	all.table = table_new();
	all.nowhere = fopen("/dev/null", "we");
	all.sweep = 0;
	if (!all.table || !all.nowhere)
		abort();
	all.table->header.is_described = 1;
	all.table->header.n_metrics = METRICS;
	all.table->header.n_sockets = SOCKETS;
	TABLE_WRITE_TEXT(all.table->header.names[0], "dram.read");
	TABLE_WRITE_TEXT(all.table->header.units[0], "bytes");
	table_find_or_add(all.table, "a");
	table_find_or_add(all.table, "b");
	for (int i = 0; i < PLACES; i++)
		all.table->regions[i].has_sums = 1;
	all.table->header.overhead = PACE_WISHED | (size_bytes % 3 ? 10000 : 0);
	for (int i = 0; i < MEMBERS; i++)
		come(&all.members[i]);
	for (int i = 0; i < STEPS_MAX && input.size_bytes; i++)
		step();
	look();
	for (int i = 0; i < MEMBERS; i++)
		interval_done(&all.members[i]);
	fclose(all.nowhere);
	table_unmap(all.table);
	return 0;
}
