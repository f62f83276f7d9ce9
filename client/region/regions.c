/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regions are the only part of the library that keeps state of the whole process. The pointer
 * to that state lies in memory that a forked child finds wiped, so a child starts with no regions
 * and makes its own connection, whatever locks the parent's threads held at the fork.
 */
#include "client/region/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int regions_no_memory(void)
{
	return error_say(-ENOMEM, "No memory for the regions of this process.");
}

static struct regions **current;     /* in wiped memory */
static struct regions *last_created; /* in a child: the parent's */
static struct regions **current_slot(void)
{
	struct regions **slot = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
	struct regions **none = NULL;
	void *memory;

	if (slot)
		return slot;
	if (wiped_memory_new(sizeof *slot, &memory) < 0)
		return NULL;
	slot = memory;
	if (__atomic_compare_exchange_n(
		    &current, &none, slot, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return slot;
	wiped_memory_free(slot, sizeof *slot);
	return none;
}

struct regions *regions_now(void)
{
	struct regions **slot = __atomic_load_n(&current, __ATOMIC_ACQUIRE);

	return slot ? __atomic_load_n(slot, __ATOMIC_ACQUIRE) : NULL;
}

struct regions *regions_get(void)
{
	struct regions **slot = current_slot();
	struct regions *regions = regions_now(), *none = NULL;

	if (!slot || regions)
		return regions;
	regions = calloc(1, sizeof *regions);
	if (!regions)
		return NULL;
	meter_init(&regions->meter);
	pthread_mutex_init(&regions->table_lock, NULL);
	if (!__atomic_compare_exchange_n(
		    slot, &none, regions, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		free(regions);
		return none;
	}
	regions->inherited = __atomic_exchange_n(&last_created, regions, __ATOMIC_ACQ_REL);
	if (regions->inherited)
		meter_disown(&regions->inherited->meter);
	return regions;
}

int regions_remember(struct regions *regions, int r)
{
	if (r < 0) {
		pthread_mutex_lock(&regions->table_lock);
		failure_keep(&regions->failure, r);
		pthread_mutex_unlock(&regions->table_lock);
	}
	return r;
}

/* --- the table --- */

static struct region *region_new(const char *name)
{
	struct region *region = calloc(1, sizeof *region);

	if (region) {
		strcpy(region->name, name);
		pthread_mutex_init(&region->lock, NULL);
	}
	return region;
}

struct region *regions_find_or_add(struct regions *regions, const char *name)
{
	struct region **at = &regions->first, *region;

	pthread_mutex_lock(&regions->table_lock);
	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	if (!*at)
		*at = region_new(name);
	region = *at;
	pthread_mutex_unlock(&regions->table_lock);
	return region;
}
