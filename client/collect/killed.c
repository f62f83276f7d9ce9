/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/collect/snapshot.h"

#include <inttypes.h>
#include <stdio.h>

#include "client/region/activity.h"
#include "client/report/quantity.h"
#include "client/report/record-time.h"
#include "common/clock.h"

/* 0 if a process ended the run: it reported, and .ended_ns is set. */
static uint32_t count_killed(const struct table *table, const struct record *record)
{
	uint32_t n = 0;

	if (LOAD(table->header.ended_ns))
		return 0;
	for (unsigned i = 0; i < table_count_slots(table); i++)
		if (table_phase(table, i) == TABLE_JOINED)
			return 0;
	for (uint32_t i = 0; i < record->n_members; i++)
		n += record->members[i].died;
	return n;
}

/* Converts a time of CLOCK_MONOTONIC, which means nothing to people, perhaps of an earlier boot.
 * Returns how long ago it was. */
static uint64_t convert(const struct table *table, uint64_t at_ns, char ret_when[RECORD_TIME_MAX])
{
	const uint64_t boot_ns = LOAD(table->header.boot_ns), wall_ns = clock_wall_ns();
	const uint64_t then_ns = at_ns + (boot_ns ? boot_ns : wall_ns - clock_now_ns());

	record_time((int64_t)(then_ns / 1000000000U), ret_when);
	return wall_ns > then_ns ? wall_ns - then_ns : 0;
}

static void warn_of_missing(const struct table *table, struct record *record, uint64_t reading_ns)
{
	char when[RECORD_TIME_MAX], since[QUANTITY_MAX];

	quantity_time((double)convert(table, reading_ns, when), since);
	record_warn(record,
		"What moved in the regions that were open is missing since their last reading at "
		"%s: that is at most what moved in the %s until this record was made.",
		when, since);
}

/* Nothing is missing: an observer has read what the dead held. */
static void warn_of_surplus(const struct table *table, struct record *record)
{
	const uint64_t read_ns = LOAD(table->header.buried_ns);
	const uint64_t noticed_ns = LOAD(table->header.noticed_ns);
	char when[RECORD_TIME_MAX], after[QUANTITY_MAX], later[QUANTITY_MAX];

	convert(table, noticed_ns ? noticed_ns : read_ns, when);
	quantity_time((double)LOAD(table->header.buried_after_ns), after);
	quantity_time(read_ns > noticed_ns ? (double)(read_ns - noticed_ns) : 0, later);
	if (noticed_ns)
		record_warn(record,
			"uncored noticed at %s that no rank was left, and read the regions that "
			"were open %s later. The last rank had ended at most %s before it was "
			"noticed: what moved between its end and the reading is in the counts.",
			when, later, after);
	else
		record_warn(record,
			"The regions that were open were read at %s, at most %s after the last "
			"rank had ended: what moved in between is in their counts.",
			when, after);
}

void killed_warn(const struct table *table, struct record *record)
{
	const uint32_t n = count_killed(table, record);
	const uint64_t boot_ns = LOAD(table->header.boot_ns);
	const uint64_t noticed_ns = LOAD(table->header.noticed_ns);
	uint64_t reading_ns;

	if (!n)
		return;
	reading_ns = activity_is_unread(table) ? LOAD(table->header.ended_at_ns) : 0;
	/* when it really ended nobody knows */
	if (boot_ns)
		record->ended_ns = (int64_t)(boot_ns + LOAD(table->header.last_reading_ns));
	else if (noticed_ns)
		record->ended_ns = (int64_t)(clock_wall_ns() - clock_now_ns() + noticed_ns);
	record_warn(record,
		boot_ns ? "Processes that ended without a report: %" PRIu32 " of %" PRIu32 ", by a "
			  "signal, _exit() or exec; which of these is not known."
			: "Ranks that were killed: %" PRIu32 " of %" PRIu32
			  ". None lived to report.",
		n, record->n_members);
	if (reading_ns)
		warn_of_missing(table, record, reading_ns);
	else if (LOAD(table->header.buried_ns))
		warn_of_surplus(table, record);
	else
		record_warn(record, "No region was open then, so nothing is missing.");
}
