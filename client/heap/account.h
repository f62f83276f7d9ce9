/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many bytes each place has allocated, now and at most: in all, and while each region was open
 * in this process. What was allocated before and is still there counts as well: it is there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/heap/block.h"
#include "client/heap/real.h"
#include "client/heap/site.h"

enum { HEAP_REGIONS_MAX = 1024, HEAP_NAME_MAX = 64 };

struct heap_most {
	uint64_t bytes;
	uint64_t n; /* blocks, when it had the most bytes */
};

/* Of a place. */
struct heap_sum {
	struct heap_most live, most;
};

struct heap_region {
	char name[HEAP_NAME_MAX];
	uint32_t n_open;        /* atomic: passages */
	bool is_listed;         /* as open */
	uint64_t seen;          /* what grew until then is in .most */
	struct heap_most *most; /* owned; of each place; NULL: there was no memory for it */
};

extern struct heap_sum heap_sums[HEAP_SITES_MAX];
extern struct heap_region *heap_regions[HEAP_REGIONS_MAX]; /* atomic; by hashes of the names */
extern uint64_t heap_n_lost; /* blocks that are not kept, for want of memory */

/* The caller is in the module: heap_enter(). @caller is where the program goes on. */
void heap_add(const char *kind, const void *memory, size_t size, const void *caller);
bool heap_drop(const void *memory, struct heap_block *ret);
void heap_put_back(const struct heap_block *block); /* it was not freed after all */

void heap_map_add(const char *kind, const void *memory, size_t size, const void *caller);
/* *@ret_place is that of the first part; @ret_place may be NULL. Was anything there? */
bool heap_map_drop(const void *memory, size_t size, uint32_t *ret_place);
void heap_map_put_back(const void *memory, size_t size, uint32_t place);

/* The number of the region @name; HEAP_REGIONS_MAX: there is no room, or the name is too long. */
uint32_t heap_region_of(const char *name);
void heap_region_enter(uint32_t region);
void heap_region_leave(uint32_t region);

/* Spans, by their numbers. */
void heap_span_enter(uint64_t span, uint32_t region);
void heap_span_leave(uint64_t span);
