/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is allocated now: blocks by their address, and mappings, of which parts can go. All
 * functions need heap_lock. Where the kernel gives no memory for the tables, a block is not kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_block {
	uintptr_t at; /* 0: none */
	size_t size;
	uint32_t place;
};

/* A table of blocks by .at, which is another key for spans. */
struct heap_blocks {
	struct heap_block *all; /* owned */
	size_t n, n_places;     /* the latter is a power of 2, or 0 */
};

/* *@ret_old is the block that was there: its end was not seen; .at 0: none. */
bool heap_block_put(
	struct heap_blocks *blocks, struct heap_block block, struct heap_block *ret_old);
bool heap_block_take(struct heap_blocks *blocks, uintptr_t at, struct heap_block *ret);

bool heap_map_put(struct heap_block map);

/* Removes what lies in a range. Calls @gone for each part; a map that goes as a whole or becomes
 * two says so by @n, the number of maps that are fewer. */
void heap_map_cut(uintptr_t at, size_t size, void (*gone)(const struct heap_block *part, int n));
