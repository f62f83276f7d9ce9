/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/traffic/plugin/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/traffic/counters.h"

/* No address has this number. Nothing is present. */
static const cache_way FREE = UINT64_MAX << 6;

static uint64_t set_bytes(const struct cache_shape *shape)
{
	return (uint64_t)TRAFFIC_LINE_BYTES * shape->n_sectors * shape->n_ways;
}

bool cache_shape_is_right(const struct cache_shape *shape)
{
	uint64_t n_sets = shape->bytes / set_bytes(shape);

	return n_sets && !(n_sets & (n_sets - 1)) && !(shape->bytes % set_bytes(shape));
}

int cache_init(struct cache *cache, const struct cache_shape *shape)
{
	uint64_t n_sets = shape->bytes / set_bytes(shape);

	*cache = (struct cache){
		.ways = calloc(n_sets, shape->n_ways * sizeof *cache->ways),
		.n_ways = shape->n_ways,
		.sector_shift = shape->n_sectors - 1,
		.set_mask = n_sets - 1,
	};
	if (!cache->ways)
		return -ENOMEM;
	for (uint64_t i = 0; i < n_sets * shape->n_ways; i++)
		cache->ways[i] = FREE;
	return 0;
}

/* The way of a line or of its neighbour; NULL: neither is there. */
static cache_way *find(const struct cache *cache, uint64_t line)
{
	cache_way *set = cache_set(cache, line);

	for (unsigned i = 0; i < cache->n_ways; i++)
		if (cache_way_is_of(cache, set[i], line))
			return &set[i];
	return NULL;
}

cache_way cache_insert(struct cache *cache, uint64_t line, unsigned state)
{
	cache_way *set = cache_set(cache, line), *way = find(cache, line), out = FREE;
	cache_way word = line >> cache->sector_shift << 6;

	if (way) {
		word = *way;
	} else {
		way = &set[cache->n_ways - 1];
		out = *way;
	}
	memmove(set + 1, set, (size_t)(way - set) * sizeof *set);
	set[0] = word | (cache_way)(state | CACHE_PRESENT) << cache_sector(cache, line);
	return out;
}

unsigned cache_take(struct cache *cache, uint64_t line)
{
	cache_way *set = cache_set(cache, line), *way = find(cache, line);
	unsigned sector = cache_sector(cache, line);
	cache_way *last = &set[cache->n_ways - 1];
	unsigned state;

	if (!way)
		return 0;
	state = cache_way_state(*way, sector);
	*way &= ~((cache_way)state << sector);
	if (*way & 63)
		return state; /* its neighbour stays */
	memmove(way, way + 1, (size_t)(last - way) * sizeof *way);
	*last = FREE;
	return state;
}

void cache_settle(struct cache *cache, uint64_t line)
{
	cache_way *way = find(cache, line);

	if (way)
		*way &= ~((cache_way)CACHE_CLAIMED << cache_sector(cache, line));
}
