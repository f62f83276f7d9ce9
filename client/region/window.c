/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/window.h"

#include "client/region/word.h"

#define LOAD(field)         __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)
#define ADD(field, amount)  __atomic_fetch_add(&(field), amount, __ATOMIC_RELAXED)

enum {
	READINGS = 50, /* a shorter stretch is read in a window */
	PAIR_EVERY = 4,
	PAIRS_FIRST = 16, /* until then after each reading */
	STALE_FACTOR = 4,
};

/* Longer stretches are always read one by one. */
static const uint64_t LONG_NS = 2000000;

/* A team may read for so long before its budget counts. */
static const uint64_t ADVANCE_NS = 20000000;

/* Assumed until the first reading. */
static const uint64_t READING_NS = 20000;

/* --- the cost of readings --- */

static uint64_t reading_ns(const struct table *table)
{
	const uint64_t cost_ns = LOAD(table->header.reading_ns);

	return cost_ns ? cost_ns : READING_NS;
}

/* Follows the median: up by an eighth if a value is larger, down if it is smaller. */
static uint64_t follow(uint64_t median, uint64_t value)
{
	return value > median ? median + median / 8 : median - median / 8;
}

void window_add_cost(struct table *table, uint64_t time_ns)
{
	ADD(table->header.readings_ns, time_ns);
	STORE(table->header.reading_ns, follow(reading_ns(table), time_ns));
}

/* In ten-thousandths of the wall time; 0: each stretch is read. */
static uint32_t budget(const struct table *table)
{
	return window_overhead(LOAD(table->header.overhead));
}

/* The least time between two readings; those of pairs count, too. */
static uint64_t gap_ns(const struct table *table)
{
	const uint64_t site_ns = LOAD(table->header.site_gap_ns);
	const uint64_t own_ns = reading_ns(table) * 10000 / (budget(table) ? budget(table) : 1);
	const uint64_t all_ns = own_ns + 2 * own_ns / PAIR_EVERY;

	return all_ns > site_ns ? all_ns : site_ns;
}

static void begin_budget(struct table *table, uint64_t now_ns)
{
	if (!LOAD(table->header.first_ns))
		STORE(table->header.first_ns, now_ns);
}

static bool is_overspent(const struct table *table, uint64_t now_ns)
{
	const uint64_t begun_ns = LOAD(table->header.first_ns);
	const uint64_t passed_ns = now_ns > begun_ns ? now_ns - begun_ns : 0;

	return LOAD(table->header.readings_ns) > ADVANCE_NS + passed_ns / 10000 * budget(table);
}

/* --- stretches --- */

/* The member that comes in writes the counts. It is inside meanwhile, so no other stretch begins.
 */

static bool is_in_gap(const struct table_region *region)
{
	return LOAD(region->left_ns) >= LOAD(region->opened_ns);
}

/* Begins so high that the first stretches, about 30, are read one by one. */
static void learn(struct table_region *region, uint64_t stretch_ns)
{
	const uint64_t usual_ns = LOAD(region->usual_ns);

	STORE(region->usual_ns, follow(usual_ns ? usual_ns : 64 * LONG_NS, stretch_ns));
}

void window_enter(struct table *table, unsigned index, uint64_t now_ns)
{
	struct table_region *region = &table->regions[index];
	const uint64_t left_ns = LOAD(region->left_ns);

	begin_budget(table, now_ns);
	if (!is_in_gap(region))
		return;
	STORE(region->n_stretches, LOAD(region->n_stretches) + 1);
	STORE(region->opened_ns, now_ns > left_ns ? now_ns : left_ns + 1);
}

void window_end_gap(struct table *table, unsigned index, uint64_t now_ns)
{
	struct table_region *region = &table->regions[index];
	const uint64_t left_ns = LOAD(region->left_ns);

	if (!is_in_gap(region) || !left_ns)
		return;
	STORE(region->n_gaps, LOAD(region->n_gaps) + 1);
	if (now_ns <= left_ns)
		return;
	STORE(region->gap_ns, LOAD(region->gap_ns) + now_ns - left_ns);
	STORE(region->left_ns, now_ns);
}

void window_leave(struct table *table, unsigned index, uint64_t now_ns)
{
	struct table_region *region = &table->regions[index];
	const uint64_t opened_ns = LOAD(region->opened_ns);

	if (is_in_gap(region))
		return;
	STORE(region->left_ns, now_ns > opened_ns ? now_ns : opened_ns);
	learn(region, now_ns > opened_ns ? now_ns - opened_ns : 0);
}

void window_go_idle(struct table *table, unsigned index, uint64_t now_ns)
{
	struct table_region *region = &table->regions[index];

	/* This member is outside, so others may do the same. */
	ADD(region->n_idle, 1);
	window_leave(table, index, now_ns);
}

struct window_state window_look(const struct table *table, unsigned index, uint64_t until_ns)
{
	const struct table_region *region = &table->regions[index];
	const uint64_t left_ns = LOAD(region->left_ns);
	struct window_state state = {
		.n_stretches = LOAD(region->n_stretches),
		.n_gaps = LOAD(region->n_gaps),
		.n_idle = LOAD(region->n_idle),
		.gap_ns = LOAD(region->gap_ns),
	};

	if (is_in_gap(region) && left_ns && until_ns > left_ns)
		state.gap_ns += until_ns - left_ns;
	return state;
}

/* Was the last stretch short? */
static bool was_short(const struct table_region *region)
{
	const uint64_t left_ns = LOAD(region->left_ns), opened_ns = LOAD(region->opened_ns);

	return left_ns && left_ns >= opened_ns && left_ns - opened_ns < LONG_NS;
}

/* --- when --- */

bool window_is_used(const struct table *table, unsigned index)
{
	const struct table_region *region = &table->regions[index];
	const uint64_t usual_ns = LOAD(region->usual_ns), short_ns = READINGS * reading_ns(table);

	if (!budget(table))
		return false;
	if (usual_ns && usual_ns < (short_ns < LONG_NS ? short_ns : LONG_NS))
		return true;
	return was_short(region) && is_overspent(table, LOAD(table->header.last_reading_ns));
}

static bool is_due_by_time(struct table *table, uint64_t now_ns)
{
	uint64_t *last = &table->header.last_reading_ns, before_ns = LOAD(*last);

	return now_ns > before_ns && !is_overspent(table, now_ns) &&
	       now_ns - before_ns >= gap_ns(table) &&
	       __atomic_compare_exchange_n(
		       last, &before_ns, now_ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool window_is_due(struct table *table, uint64_t now_ns)
{
	struct table_header *header = &table->header;
	uint32_t pair = 1;

	if (LOAD(header->wants_pair) && __atomic_compare_exchange_n(&header->wants_pair, &pair, 0,
						false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return true;
	return is_due_by_time(table, now_ns);
}

bool window_reads_class(struct table *table, const struct state_turn *turn)
{
	begin_budget(table, turn->now_ns);
	return turn->before == UNCORE_STATE_LEFT || turn->now == UNCORE_STATE_LEFT ||
	       !budget(table) || !is_overspent(table, LOAD(table->header.last_reading_ns)) ||
	       is_due_by_time(table, turn->now_ns);
}

bool window_is_stale(const struct table *table, unsigned index, uint64_t now_ns)
{
	const struct table_region *region = &table->regions[index];
	const uint64_t left_ns = LOAD(region->left_ns);

	return is_in_gap(region) && left_ns && now_ns > left_ns &&
	       now_ns - left_ns > STALE_FACTOR * gap_ns(table);
}

bool window_wants_pair(struct table *table)
{
	if (LOAD(table->outside.kinds[TABLE_GAP].n) >= PAIRS_FIRST &&
		ADD(table->header.n_edges, 1) % PAIR_EVERY != 0)
		return false;
	STORE(table->header.wants_pair, 1);
	return true;
}

bool window_is_any(const struct table *table)
{
	const unsigned n = table_count_regions(table);

	for (unsigned i = 0; i < n; i++)
		if (word_of(table, i).is_idle)
			return true;
	return false;
}
