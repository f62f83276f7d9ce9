/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One cache: sets of ways in the order of their last use, of which the last goes. It knows which
 * lines it has and which of them are dirty; it holds no data.
 *
 * A line is 64 bytes, numbered by its address / 64. A way has one line, or, in a cache with
 * sectors, two neighbours that come and go in one way, but are fetched one by one: POWER9 has ways
 * of 128 bytes and fetches 64.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cache_shape {
	uint64_t bytes;
	unsigned n_ways;
	unsigned n_sectors; /* lines of a way: 1 or 2 */
};

enum { CACHE_SECTORS_MAX = 2 };

/* What a cache knows of a line. In a way the bits of its second line are one place further up. */
enum cache_state {
	CACHE_DIRTY = 1 << 0,
	CACHE_PRESENT = 1 << 2,
	CACHE_CLAIMED = 1 << 4, /* not read, since it may be written whole: see claims.h */
};

/* The number of the way's first line / sectors, above six bits of state. */
typedef uint64_t cache_way;

struct cache {
	cache_way *ways; /* of each set, the last used first */
	unsigned n_ways;
	unsigned sector_shift;
	uint64_t set_mask;
};

/* Has it sets, and is their number a power of two? */
bool cache_shape_is_right(const struct cache_shape *shape);

/* Makes an empty cache of a right shape. Returns -ENOMEM if there is no memory. */
int cache_init(struct cache *cache, const struct cache_shape *shape);

/* Puts a line that is not there into the cache, as the last used. Returns the way that it took, of
 * which nothing is present if that was free or has the line's neighbour. */
cache_way cache_insert(struct cache *cache, uint64_t line, unsigned state);

/* Takes a line out. Returns the state that it had, 0: it was not there. */
unsigned cache_take(struct cache *cache, uint64_t line);

/* The line is no longer claimed. */
void cache_settle(struct cache *cache, uint64_t line);

static inline unsigned cache_sector(const struct cache *cache, uint64_t line)
{
	return (unsigned)line & ((1u << cache->sector_shift) - 1);
}

static inline cache_way *cache_set(const struct cache *cache, uint64_t line)
{
	return cache->ways + (line >> cache->sector_shift & cache->set_mask) * cache->n_ways;
}

static inline bool cache_way_is_of(const struct cache *cache, cache_way way, uint64_t line)
{
	return way >> 6 == line >> cache->sector_shift;
}

/* The state of the @nth line of a way. */
static inline unsigned cache_way_state(cache_way way, unsigned nth)
{
	return (unsigned)(way >> nth) & (CACHE_DIRTY | CACHE_PRESENT | CACHE_CLAIMED);
}

static inline uint64_t cache_way_line(const struct cache *cache, cache_way way, unsigned nth)
{
	return (way >> 6 << cache->sector_shift) + nth;
}

/* Makes a line the last used one, and dirty if @state says so. Returns its state before, 0: it is
 * not there. */
static inline unsigned cache_touch(struct cache *cache, uint64_t line, unsigned state)
{
	cache_way *set = cache_set(cache, line), way;
	unsigned sector = cache_sector(cache, line), before, i = 0;

	while (!cache_way_is_of(cache, set[i], line))
		if (++i == cache->n_ways)
			return 0;
	before = cache_way_state(set[i], sector);
	if (!(before & CACHE_PRESENT))
		return 0;
	way = set[i] | (cache_way)state << sector;
	for (; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = way;
	return before;
}
