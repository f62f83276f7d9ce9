/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncore report --candidates`: regions of a known truth, as records have them. */
#include <math.h>

#include "client/command/report/candidates.h"
#include "tests/harness/test.h"
#include "tests/unit/report/record-case.h"

#define GB 1e9

enum { REGIONS = 6, SEEDS = 50 };

/* What a region moved itself, in how long, and what a neighbour moved meanwhile; and what its
 * threads missed. */
struct truth {
	const char *name;
	double bytes, seconds, neighbours, misses;
};

/* Two stream, and "copy" is mostly prefetched. "burst" is the fastest, with the most misses per
 * second, and its data fits into caches but for a few bytes; "shared" has the most bytes on the
 * counters, and most are a neighbour's; "long" moves and misses much, slowly. */
static const struct truth truths[REGIONS] = {
	{ "copy", 40 * GB, 4, 0, 480e6 },
	{ "smooth", 30 * GB, 3.1, 0, 640e6 },
	{ "burst", 0.2 * GB, 0.015, 0, 40e6 },
	{ "shared", 6 * GB, 8, 74 * GB, 90e6 },
	{ "long", 45 * GB, 20, 0, 700e6 },
	{ "setup", 0.5 * GB, 2, 0, 8e6 },
};

/* From 0 to 1. */
static double random_share(unsigned *state)
{
	return rand_r(state) / (double)RAND_MAX;
}

/* The share is off by up to 10 %. */
static void fill_share(struct record_value *value, const struct truth *truth, unsigned *state)
{
	const double own = truth->bytes / 2, error = 0.1 * (2 * random_share(state) - 1);

	value->has_share = true;
	value->share = value->alone = value->count;
	if (truth->neighbours > 0) {
		value->share = (uint64_t)(own * (1 + error));
		value->alone = (uint64_t)(own * 0.9 * random_share(state));
	}
}

static void add_region(struct record *record, const struct truth *truth, unsigned *state)
{
	struct record_region *region = &record->regions[record->n_regions++];

	*region = (struct record_region){ .n_passages = 1, .n_ranks = 1, .n_sockets = 1 };
	strcpy(region->name, truth->name);
	region->sockets = calloc(1, sizeof *region->sockets);
	assert_non_null(region->sockets);
	region->sockets->window_ns = (uint64_t)(truth->seconds * 1e9);
	region->shared_ns = truth->neighbours > 0 ? region->sockets->window_ns * 9 / 10 : 0;
	region->n_others = -1;
	for (uint32_t m = 0; m < record->n_metrics; m++) {
		struct record_value *value = &region->sockets->values[m];
		const double noise = 1 + 0.03 * (2 * random_share(state) - 1);

		value->count = (uint64_t)((truth->bytes + truth->neighbours) / 2 * noise);
		fill_share(value, truth, state);
	}
}

/* The join of the regions in an order that follows from @seed. */
static void make(unsigned seed, struct join *join)
{
	unsigned order[REGIONS] = { 0, 1, 2, 3, 4, 5 }, state = seed;
	struct record_list list = { .n = 0 };
	struct record record;

	record_case_init(&record, REGIONS);
	record.n_metrics = 2; /* dram.read and dram.write */
	for (unsigned i = REGIONS; i-- > 1;) {
		const unsigned k = (unsigned)rand_r(&state) % (i + 1), swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
	for (unsigned i = 0; i < REGIONS; i++)
		add_region(&record, &truths[order[i]], &state);
	assert_int_equal(record_list_add(&list, &record), 0);
	assert_int_equal(join_records(&list, false, join), 0);
	record_list_done(&list);
}

/* Their candidates. */
static void find(unsigned seed, double percent, struct join *join, struct candidates *ret)
{
	make(seed, join);
	assert_int_equal(candidates_find(join, percent, ret), 0);
}

/* Gives the regions what their threads missed, up to 10 % off. */
static void miss(struct join *join, const char *event, unsigned seed)
{
	for (uint32_t i = 0; i < join->total.n_regions; i++) {
		struct record_region *region = &join->total.regions[i];
		const struct truth *truth = truths;

		while (strcmp(truth->name, region->name) != 0)
			truth++;
		strcpy(region->misses.event, event);
		region->misses.count =
			(uint64_t)(truth->misses * (1 + 0.1 * (2 * random_share(&seed) - 1)));
	}
}

static bool is_named(const struct candidates *found, size_t i, const char *name)
{
	return i < found->n && strcmp(found->all[i].row.name, name) == 0;
}

/* Two of the regions are not candidates, and "burst" is the last one. */
static void assert_others_are_not_first(const struct candidates *found)
{
	for (size_t i = 0; i < found->n; i++) {
		assert_false(is_named(found, i, "long"));
		assert_false(is_named(found, i, "shared"));
	}
	assert_true(is_named(found, found->n - 1, "burst"));
}

CASE("regions that stream come first, in 95 % of 50 orders")
{
	unsigned n_right = 0;

	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct candidates found;
		struct join join = { .n_records = 0 };

		find(seed, 50, &join, &found);
		n_right += is_named(&found, 0, "copy") && is_named(&found, 1, "smooth");
		assert_others_are_not_first(&found);
		candidates_done(&found);
		assert_int_equal(candidates_find(&join, 1, &found), 0); /* all that move anything */
		for (size_t i = 0; i < found.n; i++) {
			const bool is_shared = is_named(&found, i, "shared");

			assert_int_equal(is_shared, found.all[i].shared > 0);
			assert_string_equal(found.all[i].basis, is_shared ? "share" : "counted");
		}
		candidates_done(&found);
		join_done(&join);
	}
	printf("# %u of %d: both first\n", n_right, SEEDS);
	assert_true(100 * n_right >= 95 * SEEDS);
}

static struct record_region *region_named(struct join *join, const char *name)
{
	struct record_region *region = join->total.regions;

	while (strcmp(region->name, name) != 0)
		region++;
	return region;
}

CASE("a region that overlapped is ranked by its share")
{
	struct candidates found;
	struct join join;

	make(1, &join);
	for (int m = 0; m < 2; m++)
		region_named(&join, "shared")->sockets->values[m].share = (uint64_t)(17.5 * GB);
	assert_int_equal(candidates_find(&join, 1, &found), 0);
	assert_true(is_named(&found, 2, "shared")); /* behind 45 and 40 GB, before 30 */
	assert_string_equal(found.all[2].basis, "share");
	assert_true(fabs(found.all[2].bytes - 35 * GB) < 1);
	candidates_done(&found);
	join_done(&join);
}

CASE("a region without figures is not a candidate")
{
	struct candidates found;
	struct join join;

	make(1, &join);
	for (int m = 0; m < 2; m++)
		region_named(&join, "shared")->sockets->values[m].quality = UNCORE_ABSENT;
	assert_int_equal(candidates_find(&join, 1, &found), 0);
	assert_true(found.n > 0);
	for (size_t i = 0; i < found.n; i++)
		assert_false(is_named(&found, i, "shared"));
	candidates_done(&found);
	join_done(&join);
}

CASE("regions that stream come first by their misses, in 95 % of 50 orders")
{
	unsigned n_right = 0;

	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct candidates found;
		struct join join = { .n_records = 0 };

		make(seed, &join);
		miss(&join, "page-faults", seed);
		assert_int_equal(candidates_find(&join, 50, &found), 0);
		assert_true(found.are_counted);
		n_right += is_named(&found, 0, "smooth") && is_named(&found, 1, "copy");
		assert_others_are_not_first(&found);
		candidates_done(&found);
		join_done(&join);
	}
	printf("# %u of %d: both first\n", n_right, SEEDS);
	assert_true(100 * n_right >= 95 * SEEDS);
}

/* As "smooth" gets what the caller has written there. */
static void check_by_bytes(struct join *join, bool has_reason)
{
	struct candidates found;

	assert_int_equal(candidates_find(join, 50, &found), 0);
	assert_false(found.are_counted);
	assert_true(is_named(&found, 0, "copy") && is_named(&found, 1, "smooth"));
	assert_true(has_reason == (found.lacks != NULL));
	if (has_reason)
		assert_string_equal(found.lacks->row.name, "smooth");
	candidates_done(&found);
}

CASE("if a candidate lacks a count, or has one of another event, the order is that of bytes")
{
	struct join join = { .n_records = 0 };
	struct record_region *smooth, *slow;

	make(1, &join);
	miss(&join, "page-faults", 1);
	smooth = region_named(&join, "smooth");
	slow = region_named(&join, "long");
	strcpy(smooth->misses.event, "r412e");
	check_by_bytes(&join, false);
	strcpy(smooth->misses.event, "");
	check_by_bytes(&join, false);
	strcpy(smooth->misses.event, "page-faults");
	smooth->misses.absent = strdup("Not counted.");
	check_by_bytes(&join, true);
	free(take_ptr(smooth->misses.absent));
	slow->misses.absent = strdup("It is not a candidate.");
	{
		struct candidates found;

		assert_int_equal(candidates_find(&join, 50, &found), 0);
		assert_true(found.are_counted && !found.lacks);
		assert_true(is_named(&found, 0, "smooth"));
		candidates_done(&found);
	}
	join_done(&join);
}
