/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/killed.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "client/region/word.h"
#include "client/report/json.h"
#include "client/report/quantity.h"
#include "common/clock.h"

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

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

/* The earliest last reading of an open region. 0: no region is open and measured. */
static uint64_t last_reading_ns(const struct table *table)
{
	const unsigned n = table_count_regions(table);
	uint64_t earliest_ns = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct word word = word_of(table, i);
		uint64_t end_ns = LOAD(table->records[word.record].sockets[0].last.end_ns);

		if (word.holder && word.record && end_ns && (!earliest_ns || end_ns < earliest_ns))
			earliest_ns = end_ns;
	}
	return earliest_ns;
}

/* Converts the time of the reading from CLOCK_MONOTONIC, which means nothing to people. */
static void write_missing(uint64_t reading_ns, char *text, size_t size_bytes)
{
	const uint64_t now_ns = clock_now_ns();
	const uint64_t since_ns = now_ns > reading_ns ? now_ns - reading_ns : 0;
	char when[RECORD_TIME_MAX], since[QUANTITY_MAX];

	if (!reading_ns) {
		snprintf(text, size_bytes, "No region was open then, so nothing is missing.");
		return;
	}
	record_time(time(NULL) - (int64_t)(since_ns / 1000000000U), when);
	quantity_time((double)since_ns, since);
	snprintf(text, size_bytes,
		"What moved in the regions that were open is missing since their last reading at "
		"%s: that is at most what moved in the %s until this record was made.",
		when, since);
}

void killed_warn(const struct table *table, struct record *record)
{
	const uint32_t n = count_killed(table, record);
	char missing[384];

	if (!n)
		return;
	write_missing(last_reading_ns(table), missing, sizeof missing);
	record_warn(record,
		"%" PRIu32 " of %" PRIu32 " ranks were killed, and none lived to report. %s", n,
		record->n_members, missing);
}
