/* SPDX-License-Identifier: BSD-3-Clause */
/* What members did: who they are, their passages, and the time of each in a region. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/collect/snapshot.h"
#include "client/region/cell.h"
#include "common/clock.h"

int snapshot_members(const struct table *table, struct record *record)
{
	const unsigned n = table_count_slots(table);

	record->members = calloc(n ? n : 1, sizeof *record->members);
	if (!record->members)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		const struct table_slot *slot = &table->slots[i];
		struct record_member *member = &record->members[record->n_members];

		if (!table_has_member(table, i))
			continue;
		member->rank = LOAD(slot->rank);
		member->pid = LOAD(slot->pid);
		member->died = table_phase(table, i) == TABLE_DIED;
		member->slot = i;
		TABLE_READ_TEXT(member->cpus, slot->cpus);
		record->n_members++;
	}
	return 0;
}

/* --- regions --- */

static void add_cell(struct record_region *region, const struct table_cell *cell,
	const struct table_work *work, bool died)
{
	region->n_passages += cell->n_left - work->n_abandoned - work->n_died;
	region->n_died += work->n_died;
	region->n_failed += work->n_failed;
	region->time_ns += cell->time_ns;
	region->n_ranks += cell->n_left + cell->inside > 0;
	if (died)
		region->n_died += cell->inside;
	else
		region->n_open += cell->inside;
	region->n_open += work->n_abandoned;
	for (unsigned i = 0; i < TABLE_UNITS; i++)
		region->work[i].amount += work->work[i];
}

/* When a member died, or a thread ended, inside of the region is not known. */
static uint64_t member_ns(const struct table_cell *cell, const struct table_work *work,
	enum table_phase phase, uint64_t now_ns)
{
	uint64_t open_ns = 0;

	if (work->n_abandoned || (cell->inside && phase != TABLE_JOINED))
		return RECORD_NOT_KNOWN_NS;
	if (cell->inside)
		open_ns = cell->inside * now_ns - cell->begun_ns;
	if (open_ns > cell->inside * now_ns) /* it began after now */
		open_ns = 0;
	return cell->time_ns + open_ns > INT64_MAX ? RECORD_NOT_KNOWN_NS : cell->time_ns + open_ns;
}

/* --- misses --- */

/* Passages whose thread did not count, or could not: spans, or those of a process that was not
 * asked to. */
static int members_say_not_counted(
	const struct table *table, unsigned index, uint64_t n_counted, struct record_region *ret)
{
	char why[TABLE_WHY_BYTES];

	TABLE_READ_TEXT(why, table->header.misses_why);
	if (asprintf(&ret->misses.absent, "%" PRIu64 " of %" PRIu64 " passages were counted.%s%s%s",
		    n_counted, ret->n_passages,
		    LOAD(table->regions[index].has_spans)
			    ? " Spans are not: they belong to no thread."
			    : "",
		    *why ? " " : "", why) < 0)
		ret->misses.absent = NULL;
	return ret->misses.absent ? 0 : -ENOMEM;
}

int snapshot_misses(const struct table *table, unsigned index, struct record_region *ret)
{
	const uint64_t n_counted = LOAD(table->regions[index].n_counted);

	if (!LOAD(table->header.misses_key) && !LOAD(table->header.has_misses_why))
		return 0;
	TABLE_READ_TEXT(ret->misses.event, table->header.misses_event);
	ret->misses.count = LOAD(table->regions[index].misses);
	if (*ret->misses.event && n_counted && n_counted >= ret->n_passages)
		return 0;
	return members_say_not_counted(table, index, n_counted, ret);
}

/* --- passages --- */

int snapshot_cells(const struct table *table, unsigned index, const struct record *record,
	struct record_region *ret)
{
	const uint64_t now_ns = clock_now_ns();

	ret->member_ns = calloc(record->n_members + 1U, sizeof *ret->member_ns);
	if (!ret->member_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < record->n_members; i++) {
		const uint32_t slot = record->members[i].slot;
		const enum table_phase phase = table_phase(table, slot);
		struct table_cell cell = { .lock = 0 };
		struct table_work work;

		if (!table_has_cell(table, slot, index))
			continue;
		cell_copy(&cell, &table->cells[slot][index]);
		table_copy(&work, &table->works[slot][index], sizeof work);
		add_cell(ret, &cell, &work, phase == TABLE_DIED);
		ret->member_ns[i] = member_ns(&cell, &work, phase, now_ns);
	}
	return 0;
}
