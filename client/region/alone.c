/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/alone.h"

/* The parts of a word: entries so far, and threads that are inside now. */
#define ENTRY   (UINT64_C(1) << 24)
#define INSIDE  (ENTRY - 1)
#define ENTERED (~INSIDE)

enum { TRIES = 4 };

static uint64_t *word_of_slot(struct table *table, unsigned slot)
{
	return &table->slots[slot].passages;
}

static uint64_t *word_of_region(struct table *table, unsigned slot, unsigned region)
{
	return &table->nests[slot][region].passages;
}

/* The slot first: until the region follows, the entry seems to be of another region. */
static void change(struct table *table, unsigned slot, unsigned region, uint64_t amount)
{
	__atomic_fetch_add(word_of_slot(table, slot), amount, __ATOMIC_SEQ_CST);
	if (region < ESTIMATE_REGIONS_MAX)
		__atomic_fetch_add(word_of_region(table, slot, region), amount, __ATOMIC_SEQ_CST);
}

void alone_enter(struct table *table, unsigned slot, unsigned region)
{
	change(table, slot, region, ENTRY + 1);
}

void alone_leave(struct table *table, unsigned slot, unsigned region)
{
	change(table, slot, region, (uint64_t)-1);
}

/* --- sums over the members --- */

struct sum {
	uint64_t entered, inside;
};

static void add_word(struct sum *sum, const uint64_t *word, bool is_joined)
{
	const uint64_t now = __atomic_load_n(word, __ATOMIC_SEQ_CST);

	sum->entered += (now & ENTERED) / ENTRY;
	if (is_joined)
		sum->inside += now & INSIDE;
}

/* ALONE_OUTSIDE: of all regions. */
static struct sum sum_of(const struct table *table, unsigned region)
{
	const unsigned n_slots = table_count_slots(table);
	struct sum sum = { 0 };

	for (unsigned i = 0; i < n_slots; i++) {
		const enum table_phase phase = table_phase(table, i);

		if (!table_has_member(table, i))
			continue;
		if (region == ALONE_OUTSIDE)
			add_word(&sum, &table->slots[i].passages, phase == TABLE_JOINED);
		else if (region < ESTIMATE_REGIONS_MAX)
			add_word(&sum, &table->nests[i][region].passages, phase == TABLE_JOINED);
	}
	return sum;
}

static bool is_same(const struct sum *a, const struct sum *b)
{
	return a->entered == b->entered && a->inside == b->inside;
}

/* Again if somebody came in meanwhile. */
uint64_t alone_count_others(const struct table *table, unsigned region)
{
	const unsigned own_of = region == ALONE_OUTSIDE ? ALONE_NOBODY : region;
	uint64_t others = 0;

	for (int i = 0; i < TRIES; i++) {
		const uint64_t before = sum_of(table, ALONE_OUTSIDE).entered;
		const uint64_t own = sum_of(table, own_of).entered;
		const uint64_t after = sum_of(table, ALONE_OUTSIDE).entered;

		others = after - own;
		if (before == after)
			break;
	}
	return others;
}

void alone_count(
	const struct table *table, unsigned region, uint64_t *ret_entered, uint64_t *ret_inside)
{
	const struct sum sum = sum_of(table, region);

	*ret_entered = sum.entered;
	*ret_inside = sum.inside;
}

/* --- before a reading --- */

static unsigned find_in_slot(const struct table *table, unsigned slot)
{
	for (unsigned i = 0; i < ESTIMATE_REGIONS_MAX; i++)
		if (__atomic_load_n(&table->nests[slot][i].passages, __ATOMIC_RELAXED) & INSIDE)
			return i;
	return ALONE_NOBODY;
}

/* A region that is open. */
static unsigned find_open(const struct table *table)
{
	const unsigned n_slots = table_count_slots(table);

	for (unsigned i = 0; i < n_slots; i++)
		if (table_phase(table, i) == TABLE_JOINED &&
			__atomic_load_n(&table->slots[i].passages, __ATOMIC_RELAXED) & INSIDE)
			return find_in_slot(table, i);
	return ALONE_NOBODY;
}

/* False: the counts changed meanwhile. */
static bool try_look(const struct table *table, unsigned edge, struct alone_look *ret)
{
	const struct sum all = sum_of(table, ALONE_OUTSIDE);
	const unsigned region = all.inside ? find_open(table) : edge;
	const struct sum own = sum_of(table, region);
	const struct sum again = sum_of(table, ALONE_OUTSIDE);

	*ret = (struct alone_look){
		.region = own.inside == all.inside && region < ESTIMATE_REGIONS_MAX ? region
										    : ALONE_NOBODY,
		.is_empty = !all.inside,
		.others = all.entered - own.entered,
		.entered = all.entered,
	};
	return is_same(&all, &again);
}

struct alone_look alone_look(const struct table *table, unsigned edge)
{
	struct alone_look look;

	for (int i = 0; i < TRIES; i++)
		if (try_look(table, edge, &look))
			return look;
	return (struct alone_look){ .region = ALONE_NOBODY };
}

void alone_bury(struct table *table, unsigned slot)
{
	__atomic_fetch_and(word_of_slot(table, slot), ENTERED, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < ESTIMATE_REGIONS_MAX; i++)
		__atomic_fetch_and(word_of_region(table, slot, i), ENTERED, __ATOMIC_SEQ_CST);
}
