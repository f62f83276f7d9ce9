/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/heap/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct heap_sum heap_sums[HEAP_SITES_MAX];
struct heap_region *heap_regions[HEAP_REGIONS_MAX];
uint64_t heap_n_lost;

static struct heap_blocks blocks, spans;
static struct heap_region *open_ones[HEAP_REGIONS_MAX];
static uint32_t n_open;
static uint64_t n_grown = 1; /* how often a place got more */

/* --- sums; under heap_lock --- */

static void raise_most(struct heap_most *most, const struct heap_most *live)
{
	if (live->bytes > most->bytes)
		*most = *live;
}

static void more(uint32_t place, size_t bytes, int n)
{
	struct heap_sum *sum = &heap_sums[place];

	sum->live.bytes += bytes;
	sum->live.n += (uint64_t)(int64_t)n;
	raise_most(&sum->most, &sum->live);
	n_grown++;
	for (uint32_t i = 0; i < n_open; i++) {
		raise_most(&open_ones[i]->most[place], &sum->live);
		open_ones[i]->seen = n_grown;
	}
}

static void less(const struct heap_block *part, int n)
{
	struct heap_sum *sum = &heap_sums[part->place];

	sum->live.bytes -= part->size;
	sum->live.n -= (uint64_t)(int64_t)n;
}

static void take_all_into(struct heap_region *region)
{
	if (region->seen == n_grown)
		return;
	region->seen = n_grown;
	for (uint32_t i = 0; i < heap_n_places; i++)
		raise_most(&region->most[i], &heap_sums[i].live);
}

/* --- blocks --- */

static void account_put_block(const struct heap_block *block)
{
	unsigned char *filter = heap_filter_of((const void *)block->at);
	struct heap_block old;

	if (!heap_block_put(&blocks, *block, &old)) {
		heap_n_lost++;
		return;
	}
	if (old.at)
		less(&old, 1);
	else
		__atomic_store_n(filter, *filter + (*filter < UINT8_MAX), __ATOMIC_RELAXED);
	more(block->place, block->size, 1);
}

void heap_put_back(const struct heap_block *block)
{
	pthread_mutex_lock(&heap_lock);
	account_put_block(block);
	pthread_mutex_unlock(&heap_lock);
}

void heap_add(const char *kind, const void *memory, size_t size, const void *caller)
{
	const int error = errno;
	const uint32_t place = heap_place_here(kind, caller);

	if (place != HEAP_NO_PLACE)
		heap_put_back(&(struct heap_block){ (uintptr_t)memory, size, place });
	errno = error;
}

bool heap_drop(const void *memory, struct heap_block *ret)
{
	unsigned char *filter = heap_filter_of(memory);
	bool found;

	pthread_mutex_lock(&heap_lock);
	found = heap_block_take(&blocks, (uintptr_t)memory, ret);
	if (found) {
		less(ret, 1);
		__atomic_store_n(filter, *filter - (*filter < UINT8_MAX), __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&heap_lock);
	return found;
}

/* --- mappings --- */

static uint32_t place_of_cut;
static bool was_cut;

static void take_part(const struct heap_block *part, int n)
{
	if (!was_cut)
		place_of_cut = part->place;
	was_cut = true;
	less(part, n);
}

bool heap_map_drop(const void *memory, size_t size, uint32_t *ret_place)
{
	bool found;

	pthread_mutex_lock(&heap_lock);
	was_cut = false;
	heap_map_cut((uintptr_t)memory, size, take_part);
	found = was_cut;
	if (found && ret_place)
		*ret_place = place_of_cut;
	pthread_mutex_unlock(&heap_lock);
	return found;
}

void heap_map_put_back(const void *memory, size_t size, uint32_t place)
{
	pthread_mutex_lock(&heap_lock);
	heap_map_cut((uintptr_t)memory, size, less);
	if (heap_map_put((struct heap_block){ (uintptr_t)memory, size, place }))
		more(place, size, 1);
	else
		heap_n_lost++;
	pthread_mutex_unlock(&heap_lock);
}

void heap_map_add(const char *kind, const void *memory, size_t size, const void *caller)
{
	const int error = errno;
	const uint32_t place = heap_place_here(kind, caller);

	if (place != HEAP_NO_PLACE)
		heap_map_put_back(memory, size, place);
	errno = error;
}

/* --- regions --- */

static struct heap_region *new_region(const char *name)
{
	struct heap_region *region = calloc(1, sizeof *region);
	void *most = heap_real.mmap(NULL, HEAP_SITES_MAX * sizeof *region->most,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (!region || most == MAP_FAILED) {
		free(region);
		return NULL;
	}
	strcpy(region->name, name);
	region->most = most;
	return region;
}

static struct heap_region *region_at(uint32_t i, const char *name)
{
	struct heap_region *region = __atomic_load_n(&heap_regions[i], __ATOMIC_ACQUIRE);

	if (region)
		return region;
	pthread_mutex_lock(&heap_lock);
	region = heap_regions[i];
	if (!region) {
		region = new_region(name);
		__atomic_store_n(&heap_regions[i], region, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&heap_lock);
	return region;
}

uint32_t heap_region_of(const char *name)
{
	const size_t n = strnlen(name, HEAP_NAME_MAX);
	uint32_t hash = 0;

	if (n == HEAP_NAME_MAX)
		return HEAP_REGIONS_MAX;
	for (size_t i = 0; i < n; i++)
		hash = hash * 31 + (unsigned char)name[i];
	for (uint32_t i = 0; i < HEAP_REGIONS_MAX; i++) {
		const uint32_t number = (hash + i) % HEAP_REGIONS_MAX;
		const struct heap_region *region = region_at(number, name);

		if (!region)
			return HEAP_REGIONS_MAX;
		if (strcmp(region->name, name) == 0)
			return number;
	}
	return HEAP_REGIONS_MAX;
}

/* Whether it is listed follows from the passages that are open now, also if several threads come
 * and go at once. */
static void account_list_region(struct heap_region *region)
{
	const bool is_open = __atomic_load_n(&region->n_open, __ATOMIC_ACQUIRE);
	uint32_t i = 0;

	if (is_open)
		take_all_into(region);
	if (is_open == region->is_listed)
		return;
	region->is_listed = is_open;
	if (is_open) {
		open_ones[n_open++] = region;
		return;
	}
	while (open_ones[i] != region)
		i++;
	open_ones[i] = open_ones[--n_open];
}

void heap_region_enter(uint32_t number)
{
	struct heap_region *region = heap_regions[number];

	if (__atomic_fetch_add(&region->n_open, 1, __ATOMIC_ACQ_REL))
		return;
	pthread_mutex_lock(&heap_lock);
	account_list_region(region);
	pthread_mutex_unlock(&heap_lock);
}

/* A forked child may leave what only its parent has entered. */
void heap_region_leave(uint32_t number)
{
	struct heap_region *region = heap_regions[number];
	uint32_t before = __atomic_load_n(&region->n_open, __ATOMIC_RELAXED);

	while (before && !__atomic_compare_exchange_n(&region->n_open, &before, before - 1, false,
				 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		continue;
	if (before != 1)
		return;
	pthread_mutex_lock(&heap_lock);
	account_list_region(region);
	pthread_mutex_unlock(&heap_lock);
}

void heap_span_enter(uint64_t span, uint32_t region)
{
	struct heap_block old;

	heap_region_enter(region);
	pthread_mutex_lock(&heap_lock);
	heap_block_put(&spans, (struct heap_block){ span, 0, region }, &old);
	pthread_mutex_unlock(&heap_lock);
}

void heap_span_leave(uint64_t span)
{
	struct heap_block found;
	bool is_found;

	pthread_mutex_lock(&heap_lock);
	is_found = heap_block_take(&spans, span, &found);
	pthread_mutex_unlock(&heap_lock);
	if (is_found)
		heap_region_leave(found.place);
}

/* --- fork: the child has its parent's memory, and none of its passages --- */

/* Other handlers run until the lock is free again, and may allocate. */
static void before_fork(void)
{
	heap_is_busy = true;
	pthread_mutex_lock(&heap_lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&heap_lock);
	heap_is_busy = false;
}

static void begin_child(void)
{
	pthread_mutex_init(&heap_lock, NULL);
	for (uint32_t i = 0; i < HEAP_REGIONS_MAX; i++) {
		struct heap_region *region = heap_regions[i];

		if (!region)
			continue;
		region->n_open = 0;
		region->is_listed = false;
		region->seen = 0;
		memset(region->most, 0, heap_n_places * sizeof *region->most);
	}
	n_open = 0;
	for (uint32_t i = 0; i < heap_n_places; i++)
		heap_sums[i].most = heap_sums[i].live;
	heap_is_busy = false;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, begin_child);
}
