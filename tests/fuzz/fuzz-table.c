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
#include "client/region/cell.h"
#include "client/region/member.h"
#include "client/region/observe.h"
#include "client/region/stretch.h"
#include "client/region/sums.h"
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
		place = all.table->estimate;
		words = sizeof all.table->estimate;
		break;
	case 5:
		place = &all.table->observed;
		words = sizeof all.table->observed;
		break;
	case 6:
		place = &all.table->outside;
		words = sizeof all.table->outside;
		break;
	case 7:
		place = &all.table->nests[index / PLACES % PLACES][index % PLACES];
		words = sizeof(struct table_nest);
		break;
	default:
		place = &all.table->records[index % (2 * PLACES)];
		words = offsetof(struct table_record, sockets) + 2 * sizeof(struct table_socket);
	}
	((uint64_t *)place)[word % (words / sizeof(uint64_t))] = take_number();
}

/* --- the members --- */

static void enter(struct member *member, unsigned region)
{
	struct meter meter = { .table = member->table };
	struct reading reading = { .meter = &meter, .edge = region };

	nest_begin(member->table, member->slot, region + 1, all.sweep);
	cell_begin(&member->table->cells[member->slot][region], all.sweep);
	if (!stretch_is_held(member->table, region))
		stretch_enter(member, region, clock_now_ns(), &reading);
	stretch_advance_others(member, region, &reading);
	alone_enter(member->table, member->slot, region);
	reading_done(&reading);
}

static void leave(struct member *member, unsigned region)
{
	struct meter meter = { .table = member->table };
	struct reading reading = { .meter = &meter, .edge = region };

	alone_leave(member->table, member->slot, region);
	cell_end(&member->table->cells[member->slot][region], 1, all.sweep);
	nest_end(member->table, member->slot, region + 1, 1, all.sweep);
	stretch_check_holder(member, region);
	stretch_leave(member, region, clock_now_ns(), &reading);
	stretch_advance_others(member, region, &reading);
	reading_done(&reading);
}

static void abandon(struct member *member, unsigned region)
{
	cell_abandon_all(&member->table->cells[member->slot][region]);
	cell_fail(&member->table->cells[member->slot][region]);
	stretch_abandon(member, region);
}

static void read_between(struct member *member)
{
	struct meter meter = { .table = member->table };
	struct reading reading = { .meter = &meter, .edge = ALONE_NOBODY };

	if (reading_take(&reading) < 0)
		stretch_lose_windows(member);
	stretch_advance_others(member, STRETCH_ALL, &reading);
	reading_done(&reading);
}

/* A change of a state, of which the first regions are the rows. */
static void turn(struct member *member)
{
	struct meter meter = { .table = member->table };
	const uint8_t what = take_byte();
	struct state_turn turn = { .state = state_at(all.table, 0),
		.part = 1,
		.before = what % 3,
		.now = what / 3 % 3,
		.now_ns = all.sweep * 1000000 };
	struct reading reading = { .meter = &meter, .edge = ALONE_NOBODY, .turn = &turn };

	for (int i = 0; i < STATE_ROWS; i++) {
		table_find_or_add(all.table, (char[]){ (char)('a' + i), '\0' });
		all.table->regions[i].row |= state_row_of(0, i);
	}
	turn.state->first |= 1;
	turn.state->part |= 2;
	if (cell_turn(all.table->cells[member->slot], &turn) && what / 9 % 2)
		reading_take(&reading);
	else
		state_note_unread(turn.state);
	stretch_advance_others(member, STRETCH_ALL, &reading);
	reading_done(&reading);
}

static void come(struct member *member)
{
	if (member_join(member, all.table, MEMBER_ALONE) < 0) {
		all.table->slots[0].state = 0; /* that all are taken was a lie */
		if (member_join(member, all.table, MEMBER_ALONE) < 0)
			abort();
	}
	member->fd = NOT_OPEN;
	stretch_settle_former(member);
}

static void come_again(struct member *member)
{
	member_leave(member);
	member_let_go(member);
	member_done(member);
	come(member);
}

static void look_around(struct member *member)
{
	member_look_for_dead(member);
	observe_is_due(member, take_number());
	member_should_look(member, take_number());
	if (!member_is_one(member))
		stretch_settle_dead(member, NULL);
	stretch_settle_dead(member, NULL);
}

static void work(struct member *member, unsigned region)
{
	const char name[] = { (char)('a' + take_byte() % PLACES), '\0' };
	int index = table_find_or_add(all.table, name), unit;

	if (index < 0)
		return;
	unit = table_find_or_add_unit(all.table, region, name);
	if (unit >= 0)
		cell_work(&all.table->cells[member->slot][region], (unsigned)unit, 2);
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
		read_between(member);
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

/* 0: each stretch is read; 1: in windows that end when another region is read; 2: a reading is due
 * at each edge, and each window is stale. */
static void choose_windows(size_t kind)
{
	struct table_header *header = &all.table->header;

	if (kind != 1 && kind != 2)
		return;
	if (kind == 1)
		header->site_gap_ns = UINT64_C(1) << 60;
	header->overhead = 10000;
	header->reading_ns = 1;
	for (unsigned i = 0; i < table_count_regions(all.table); i++)
		all.table->regions[i].usual_ns = 1;
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
	choose_windows(size_bytes % 3);
	for (int i = 0; i < MEMBERS; i++)
		come(&all.members[i]);
	for (int i = 0; i < STEPS_MAX && input.size_bytes; i++)
		step();
	look();
	for (int i = 0; i < MEMBERS; i++)
		member_done(&all.members[i]);
	fclose(all.nowhere);
	table_unmap(all.table);
	return 0;
}
