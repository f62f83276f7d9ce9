/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/observe.h"

#include <math.h>
#include <string.h>

#include "client/region/alone.h"
#include "client/region/cell.h"
#include "client/region/outside.h"
#include "client/region/word.h"
#include "common/clock.h"

static const uint64_t LEAST_GAP_NS = 2000000;

enum { GAP_FACTOR = 20 };

/* The quality of a value of a socket that nobody wants. */
static const uint64_t UNMEASURED = UINT64_MAX;

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

bool observe_sums(const struct table *table, struct estimate *ret)
{
	const uint32_t n_sockets = LOAD(table->header.n_sockets);
	const uint32_t n_metrics = LOAD(table->header.n_metrics);
	const uint32_t n_parts = n_sockets > 1 ? n_sockets + 1 : n_sockets;
	const size_t size_bytes = estimate_bytes(n_parts, n_metrics);

	*ret = (struct estimate){ (void *)table->estimate, n_parts, n_metrics };
	return size_bytes && size_bytes <= sizeof table->estimate &&
	       n_sockets <= PAGE_SOCKETS_MAX && n_metrics <= UNCORE_METRICS_MAX;
}

bool observe_was_any(const struct table *table)
{
	return LOAD(table->observed.generation[0]) | LOAD(table->observed.generation[1]);
}

static uint32_t count_sockets(const struct estimate *estimate)
{
	return estimate->n_sockets > 1 ? estimate->n_sockets - 1 : 1;
}

/* --- when --- */

static unsigned count_threads(const struct table *table)
{
	const unsigned n_slots = table_count_slots(table);
	unsigned n = 0;

	for (unsigned i = 0; i < n_slots; i++)
		if (table_phase(table, i) == TABLE_JOINED)
			n += LOAD(table->slots[i].n_threads);
	return n;
}

static unsigned count_inside(const struct table *table, unsigned region)
{
	const unsigned n_slots = table_count_slots(table);
	unsigned n = 0;

	for (unsigned i = 0; i < n_slots; i++)
		if (table_is_inside(table, i, region))
			n += LOAD(table->cells[i][region].inside);
	return n;
}

/* True if two regions are open, or if one is and some threads are outside. */
static bool is_mixed(const struct table *table)
{
	const unsigned n_regions = table_count_regions(table);
	unsigned open = 0, n_open = 0;

	for (unsigned i = 0; i < n_regions; i++)
		if (word_of(table, i).holder && !state_has(table, i)) {
			open = i;
			n_open++;
		}
	return n_open > 1 || (n_open && count_inside(table, open) < count_threads(table));
}

static uint64_t gap_of(const struct table *table)
{
	const uint64_t gap_ns = LOAD(table->header.gap_ns);

	return gap_ns > LEAST_GAP_NS ? gap_ns : LEAST_GAP_NS;
}

/* Without a team there are few regions that overlap. */
static bool is_estimated(const struct member *member)
{
	return member->fd != MEMBER_ALONE && !member->is_own;
}

bool observe_is_due(const struct member *member, uint64_t now_ns)
{
	struct table_header *header = &member->table->header;
	uint64_t before_ns = LOAD(header->last_reading_ns);

	return is_estimated(member) && now_ns > before_ns &&
	       now_ns - before_ns >= gap_of(member->table) && is_mixed(member->table) &&
	       __atomic_compare_exchange_n(&header->last_reading_ns, &before_ns, now_ns, false,
		       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* --- one observer at a time --- */

/* Identifies an observer: slot + 1, and the number of the slot's owner. */
static uint64_t observer_of(unsigned slot, uint64_t state)
{
	return (slot + 1) | state >> 8 << 16;
}

static bool observer_lives(const struct member *member, uint64_t observer)
{
	const unsigned slot = (unsigned)(observer & 0xffff) - 1;
	enum table_phase phase;
	uint64_t state;

	if (slot >= TABLE_MEMBERS_MAX)
		return true; /* out of range: no member wrote it */
	state = __atomic_load_n(&member->table->slots[slot].state, __ATOMIC_SEQ_CST);
	phase = (enum table_phase)(state & 0xff);
	return (phase == TABLE_JOINED || phase == TABLE_OBSERVES) &&
	       observer == observer_of(slot, state) && member_lives(member, slot);
}

/* If the former observer has died, its interval is dropped. */
static bool begin(const struct member *member)
{
	const uint64_t own = observer_of(member->slot, member->state);
	uint64_t *observer = &member->table->header.observer, other = 0;

	if (__atomic_compare_exchange_n(
		    observer, &other, own, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return true;
	if (observer_lives(member, other) || !__atomic_compare_exchange_n(observer, &other, own,
						     false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return false;
	__atomic_store_n(&member->table->observed.at_ns, 0, __ATOMIC_RELAXED);
	return true;
}

static void end(const struct member *member)
{
	uint64_t own = observer_of(member->slot, member->state);

	__atomic_compare_exchange_n(&member->table->header.observer, &own, 0, false,
		__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* --- what is seen --- */

static uint64_t count_died(const struct table *table)
{
	const unsigned n_slots = table_count_slots(table);
	uint64_t n = 0;

	for (unsigned i = 0; i < n_slots; i++)
		n += table_phase(table, i) == TABLE_DIED;
	return n;
}

static uint64_t own_time_ns(const struct table *table, unsigned region, uint64_t now_ns)
{
	const unsigned n_slots = table_count_slots(table);
	uint64_t sum_ns = 0;

	for (unsigned i = 0; i < n_slots; i++)
		if (table_has_member(table, i))
			sum_ns += nest_own_ns(table, i, region, now_ns);
	return sum_ns;
}

static void see(
	const struct table *table, const struct reading *reading, struct table_observed *ret)
{
	const unsigned n_regions = table_count_regions(table);

	memset(ret, 0, sizeof *ret);
	ret->at_ns = reading_middle_ns(&reading->readout.samples[0]);
	memcpy(ret->generation, reading->readout.samples[0].generation, sizeof ret->generation);
	ret->n_died = count_died(table);
	ret->n_threads = count_threads(table);
	for (unsigned i = 0; i < n_regions && i < ESTIMATE_REGIONS_MAX; i++)
		if (!state_has(table, i))
			ret->own_ns[i] = own_time_ns(table, i, ret->at_ns);
	for (unsigned i = 0; i < n_regions && i < ESTIMATE_EDGES_MAX; i++)
		alone_count(table, i, &ret->n_entries[i], &ret->n_inside[i]);
	for (uint32_t s = 0; s < reading->readout.n_sockets && s < PAGE_SOCKETS_MAX; s++)
		for (uint32_t m = 0; m < UNCORE_METRICS_MAX; m++) {
			ret->sockets[s].counts[m] = reading->readout.samples[s].values[m].count;
			ret->sockets[s].qualities[m] =
				reading->readout.samples[s].sweep
					? reading->readout.samples[s].values[m].quality
					: UNMEASURED;
		}
}

/* --- a row of the estimate --- */

struct observed_row {
	struct estimate_row row;
	struct estimate_share shares[ESTIMATE_REGIONS_MAX];
	double bytes[ESTIMATE_SERIES_MAX];
};

static void fill_bytes(struct observed_row *row, const struct estimate *estimate,
	const struct table_observed *from, const struct table_observed *to)
{
	const uint32_t n_sockets = count_sockets(estimate), n_metrics = estimate->n_metrics;

	for (uint32_t s = 0; s < n_sockets; s++)
		for (uint32_t m = 0; m < n_metrics; m++) {
			const uint64_t before = from->sockets[s].counts[m];
			const uint64_t now = to->sockets[s].counts[m];
			const bool absent =
				(from->sockets[s].qualities[m] | to->sockets[s].qualities[m]) &
				UNCORE_ABSENT;

			const double moved = absent || now < before ? NAN : (double)(now - before);

			row->bytes[s * n_metrics + m] = moved;
			if (n_sockets > 1 && to->sockets[s].qualities[m] != UNMEASURED)
				row->bytes[n_sockets * n_metrics + m] += moved;
		}
}

/* A thread that came in and is not inside now has left. */
static void fill_edges(struct estimate_share *share, const struct table_observed *from,
	const struct table_observed *to)
{
	const uint32_t i = share->region;
	const int64_t entered = (int64_t)(to->n_entries[i] - from->n_entries[i]);
	const int64_t left = entered - (int64_t)(to->n_inside[i] - from->n_inside[i]);

	share->n_entries = entered > 0 ? (uint32_t)entered : 0;
	share->n_exits = left > 0 ? (uint32_t)left : 0;
}

/* A passage that is counted slightly late or early may give a negative time, which counts as 0. */
static uint64_t fill_shares(struct observed_row *row, const struct table_observed *from,
	const struct table_observed *to)
{
	uint64_t inside_ns = 0;

	for (uint32_t i = 0; i < ESTIMATE_REGIONS_MAX; i++) {
		const int64_t time_ns = (int64_t)(to->own_ns[i] - from->own_ns[i]);
		struct estimate_share share = { .region = i };

		share.time_ns = time_ns > 0 ? (uint64_t)time_ns : 0;
		if (i < ESTIMATE_EDGES_MAX)
			fill_edges(&share, from, to);
		if (share.time_ns || share.n_entries || share.n_exits)
			row->shares[row->row.n_shares++] = share;
		inside_ns += share.time_ns;
	}
	return inside_ns;
}

static void add_row(const struct estimate *estimate, const struct table_observed *from,
	const struct table_observed *to, uint64_t sweep_ns)
{
	struct observed_row row = { .row.n_shares = 0 };
	const uint64_t dt_ns = to->at_ns - from->at_ns;
	const uint64_t all_ns = (from->n_threads + to->n_threads) * dt_ns / 2;
	const uint64_t inside_ns = fill_shares(&row, from, to);

	fill_bytes(&row, estimate, from, to);
	row.row.dt_ns = dt_ns;
	row.row.t0_ns = sweep_ns;
	row.row.outside_ns = all_ns > inside_ns ? all_ns - inside_ns : 0;
	row.row.shares = row.shares;
	row.row.n_threads = from->n_threads == to->n_threads ? (uint32_t)to->n_threads : 0;
	row.row.bytes = row.bytes;
	estimate_add(estimate, &row.row);
}

static void add(const struct estimate *estimate, const struct table_observed *from,
	const struct table_observed *to, uint64_t sweep_ns)
{
	if (!from->at_ns || to->at_ns <= from->at_ns)
		return;
	if (memcmp(from->generation, to->generation, sizeof to->generation) == 0 &&
		from->n_died == to->n_died)
		add_row(estimate, from, to, sweep_ns);
}

static bool is_too_near(const struct table *table, const struct reading *reading)
{
	const uint64_t at_ns = reading_middle_ns(&reading->readout.samples[0]),
		       before_ns = LOAD(table->observed.at_ns);

	return before_ns && (at_ns <= before_ns || at_ns - before_ns < gap_of(table));
}

/* Caps the new time: an interrupted sweep or observation says little about the next one. */
static uint64_t smooth(uint64_t before_ns, uint64_t now_ns)
{
	if (!before_ns)
		return now_ns;
	if (now_ns > 2 * before_ns)
		now_ns = 2 * before_ns;
	return before_ns - before_ns / 8 + now_ns / 8;
}

static void set_gap(struct table_header *header, uint64_t sweep_ns, uint64_t cost_ns)
{
	const uint64_t site_ns = LOAD(header->site_gap_ns);
	uint64_t gap_ns;

	header->sweep_ns = smooth(header->sweep_ns, sweep_ns);
	header->observation_ns = smooth(header->observation_ns, cost_ns);
	gap_ns = GAP_FACTOR * (header->sweep_ns > header->observation_ns ? header->sweep_ns
									 : header->observation_ns);
	__atomic_store_n(&header->gap_ns, gap_ns > site_ns ? gap_ns : site_ns, __ATOMIC_RELAXED);
}

static void note(
	struct table *table, const struct estimate *estimate, const struct reading *reading)
{
	const uint64_t began_ns = clock_thread_ns();
	const uint64_t sweep_ns =
		reading->readout.samples[0].end_ns - reading->readout.samples[0].begin_ns;
	struct table_observed seen;

	see(table, reading, &seen);
	add(estimate, &table->observed, &seen, sweep_ns);
	table_copy(&table->observed, &seen, sizeof seen);
	set_gap(&table->header, sweep_ns, clock_thread_ns() - began_ns);
}

void observe(const struct member *member, const struct reading *reading)
{
	struct table *table = member->table;
	struct estimate estimate;

	if (!observe_sums(table, &estimate) ||
		reading->readout.n_sockets < count_sockets(&estimate) || !begin(member))
		return;
	outside_note(table, reading);
	/* Another member may have observed since: no time may be counted twice. */
	if (is_estimated(member) && !is_too_near(table, reading))
		note(table, &estimate, reading);
	end(member);
}
