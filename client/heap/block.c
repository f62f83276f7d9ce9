/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/heap/block.h"

#include <string.h>
#include <sys/mman.h>

#include "client/heap/real.h"

enum { PLACES_MIN = 1024, MAPS_MAX = 1 << 16 };

/* Not by malloc(3): it would give these tables the addresses next to the program's. */
static void *new_room(size_t bytes)
{
	void *room = heap_real.mmap(
		NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return room == MAP_FAILED ? NULL : room;
}

/* --- blocks: open addressing; .n_places is at least twice .n --- */

static size_t block_place_of(const struct heap_blocks *blocks, uintptr_t at)
{
	return (at >> 4) * 0x9e3779b97f4a7c15 >> 20 & (blocks->n_places - 1);
}

/* The block, or the free place where it belongs. */
static struct heap_block *block_find(const struct heap_blocks *blocks, uintptr_t at)
{
	size_t i = block_place_of(blocks, at);

	while (blocks->all[i].at && blocks->all[i].at != at)
		i = (i + 1) & (blocks->n_places - 1);
	return &blocks->all[i];
}

static bool block_grow(struct heap_blocks *blocks)
{
	const struct heap_blocks old = *blocks;
	const size_t n = old.n_places ? 2 * old.n_places : PLACES_MIN;
	struct heap_block *all = new_room(n * sizeof *all);

	if (!all)
		return false;
	blocks->all = all;
	blocks->n_places = n;
	for (size_t i = 0; i < old.n_places; i++)
		if (old.all[i].at)
			*block_find(blocks, old.all[i].at) = old.all[i];
	if (old.all)
		heap_real.munmap(old.all, old.n_places * sizeof *old.all);
	return true;
}

bool heap_block_put(struct heap_blocks *blocks, struct heap_block block, struct heap_block *ret_old)
{
	struct heap_block *place;

	ret_old->at = 0;
	if (2 * (blocks->n + 1) > blocks->n_places && !block_grow(blocks))
		return false;
	place = block_find(blocks, block.at);
	*ret_old = *place;
	blocks->n += !place->at;
	*place = block;
	return true;
}

/* Those that lie behind it because it was there move up. */
bool heap_block_take(struct heap_blocks *blocks, uintptr_t at, struct heap_block *ret)
{
	struct heap_block *all = blocks->all, *place = blocks->n ? block_find(blocks, at) : NULL;
	const size_t mask = blocks->n_places - 1;
	size_t hole, i;

	if (!place || !place->at)
		return false;
	*ret = *place;
	blocks->n--;
	hole = (size_t)(place - all);
	for (i = (hole + 1) & mask; all[i].at; i = (i + 1) & mask)
		if (((i - block_place_of(blocks, all[i].at)) & mask) >= ((i - hole) & mask)) {
			all[hole] = all[i];
			hole = i;
		}
	all[hole].at = 0;
	return true;
}

/* --- mappings: in the order of their addresses --- */

static struct heap_block *maps; /* owned by the process; of MAPS_MAX */
static size_t n_maps;

/* The first map that ends behind @at. */
static size_t first_behind(uintptr_t at)
{
	size_t low = 0, high = n_maps;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (maps[middle].at + maps[middle].size <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool heap_map_put(struct heap_block map)
{
	size_t i;

	if (!maps)
		maps = new_room(MAPS_MAX * sizeof *maps);
	if (!maps || n_maps == MAPS_MAX)
		return false;
	i = first_behind(map.at);
	memmove(&maps[i + 1], &maps[i], (n_maps++ - i) * sizeof *maps);
	maps[i] = map;
	return true;
}

void heap_map_cut(uintptr_t at, size_t size, void (*gone)(const struct heap_block *part, int n))
{
	const uintptr_t end = at + size;
	size_t i = first_behind(at), k = i;

	for (; k < n_maps && maps[k].at < end; k++) {
		struct heap_block map = maps[k], part = map;
		const uintptr_t map_end = map.at + map.size;
		const uintptr_t part_end = map_end < end ? map_end : end;

		part.at = map.at > at ? map.at : at;
		part.size = part_end - part.at;
		if (map.at < at && end < map_end) {
			maps[k].size = at - map.at;
			map = (struct heap_block){ end, map_end - end, map.place };
			gone(&part, heap_map_put(map) ? -1 : 0);
			return;
		}
		gone(&part, part.size == map.size);
		if (map.at < at)
			maps[i++].size = at - map.at;
		else if (end < map_end)
			maps[i++] = (struct heap_block){ end, map_end - end, map.place };
	}
	memmove(&maps[i], &maps[k], (n_maps - k) * sizeof *maps);
	n_maps -= k - i;
}
