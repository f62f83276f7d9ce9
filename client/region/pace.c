/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/pace.h"

enum { READINGS = 50 }; /* that a long passage takes at least */

/* Longer passages are always long. */
static const uint64_t LONG_NS = 2000000;

/* A team may read for so long before its budget counts. */
static const uint64_t ADVANCE_NS = 20000000;

/* Assumed until the first reading. */
static const uint64_t READING_NS = 20000;

/* A reading is always due then. It bounds what is lost if processes are killed. */
static const uint64_t GAP_MOST_NS = 1000000000;

/* --- what readings cost --- */

static uint32_t overhead_of(const struct table *table)
{
	return pace_overhead(LOAD(table->header.overhead));
}

static uint64_t reading_ns(const struct table *table)
{
	const uint64_t cost_ns = LOAD(table->header.reading_ns);

	return cost_ns ? cost_ns : READING_NS;
}

/* Follows the median: up by an eighth if a value is larger, down if it is smaller. */
static uint64_t pace_follow(uint64_t median, uint64_t value)
{
	return value > median ? median + median / 8 : median - median / 8;
}

void pace_add_cost(struct table *table, uint64_t time_ns)
{
	__atomic_fetch_add(&table->header.readings_ns, time_ns, __ATOMIC_RELAXED);
	STORE(table->header.reading_ns, pace_follow(reading_ns(table), time_ns));
}

bool pace_is_overspent(struct table *table, uint64_t now_ns)
{
	const uint64_t begun_ns = LOAD(table->header.first_ns);

	if (!begun_ns)
		STORE(table->header.first_ns, now_ns);
	return begun_ns && LOAD(table->header.readings_ns) >
				   ADVANCE_NS + (now_ns - begun_ns) / 10000 * overhead_of(table);
}

/* --- when --- */

uint64_t pace_learn(uint64_t usual_ns, uint64_t passage_ns)
{
	return pace_follow(usual_ns ? usual_ns : 64 * LONG_NS, passage_ns);
}

static bool time_is_long(const struct table *table, uint64_t time_ns)
{
	return time_ns >= LONG_NS || time_ns >= READINGS * reading_ns(table);
}

bool pace_is_long(struct table *table, uint64_t usual_ns, uint64_t last_ns, uint64_t now_ns)
{
	if (usual_ns && !time_is_long(table, usual_ns))
		return false;
	return !last_ns || time_is_long(table, last_ns) || !pace_is_overspent(table, now_ns);
}

/* May another reading follow after this time? */
static bool is_gap(const struct table *table, uint64_t passed_ns)
{
	return passed_ns * overhead_of(table) >= reading_ns(table) * 10000 &&
	       passed_ns >= LOAD(table->header.site_gap_ns);
}

bool pace_is_due(struct table *table, uint64_t now_ns)
{
	uint64_t *last = &table->header.last_reading_ns, before_ns = LOAD(*last);
	const uint64_t passed_ns = now_ns > before_ns ? now_ns - before_ns : 0;

	if (!overhead_of(table) || !LOAD(table->header.added))
		return true;
	if (passed_ns < GAP_MOST_NS &&
		(!is_gap(table, passed_ns) || pace_is_overspent(table, now_ns)))
		return false;
	return REPLACE(*last, before_ns, now_ns);
}
