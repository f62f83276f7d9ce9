/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regions are the only process-wide state of the library. The pointer to that state lies in
 * memory that a forked child finds wiped, so a child starts with no regions, joins its team as a
 * new member and makes its own connection. Locks that the parent's threads held at the fork do not
 * matter.
 */
#include "client/region/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int regions_no_memory(void)
{
	return error_say(-ENOMEM, "No memory for the regions of this process.");
}

/* In wiped memory. A child finds an unlocked mutex, whatever its state in the parent: with glibc
 * and musl, PTHREAD_MUTEX_INITIALIZER is all zeros. */
struct root {
	pthread_mutex_t creating; /* held while the process joins its team, once */
	struct regions *regions;  /* atomic */
};

static struct root *root;
static struct regions *last_created; /* in a child: the parent's */

static struct root *root_get(void)
{
	struct root *found = __atomic_load_n(&root, __ATOMIC_ACQUIRE), *none = NULL;
	void *memory;

	if (found)
		return found;
	if (wiped_memory_new(sizeof *found, &memory) < 0)
		return NULL;
	found = memory;
	if (__atomic_compare_exchange_n(
		    &root, &none, found, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return found;
	wiped_memory_free(found, sizeof *found);
	return none;
}

struct regions *regions_now(void)
{
	struct root *found = __atomic_load_n(&root, __ATOMIC_ACQUIRE);

	return found ? __atomic_load_n(&found->regions, __ATOMIC_ACQUIRE) : NULL;
}

static void give_up_inherited(struct regions *parents)
{
	meter_disown(&parents->meter);
	team_disown(&parents->team);
}

/* Gives up the parent's regions first: closing its table later would release our lock on the same
 * table. */
static struct regions *regions_new(void)
{
	struct regions *regions = calloc(1, sizeof *regions);

	if (!regions)
		return NULL;
	regions->inherited = last_created;
	last_created = NULL;
	if (regions->inherited)
		give_up_inherited(regions->inherited);
	if (team_begin(&regions->team) < 0) {
		free(regions);
		return NULL;
	}
	meter_init(&regions->meter, regions->team.table);
	pthread_mutex_init(&regions->lock, NULL);
	last_created = regions;
	return regions;
}

struct regions *regions_get(void)
{
	struct regions *regions = regions_now();
	struct root *found;

	if (regions)
		return regions;
	found = root_get();
	if (!found)
		return NULL;
	pthread_mutex_lock(&found->creating);
	regions = found->regions;
	if (!regions) {
		regions = regions_new();
		__atomic_store_n(&found->regions, regions, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&found->creating);
	return regions;
}

bool regions_hold(void)
{
	struct root *found = root_get();

	return found && pthread_mutex_lock(&found->creating) == 0;
}

void regions_release(void)
{
	pthread_mutex_unlock(&root_get()->creating);
}

int regions_remember(struct regions *regions, int r)
{
	if (r < 0)
		table_keep_failure(regions->team.table, uncore_error_text());
	return r;
}

/* --- by name --- */

static struct region **bucket_of(struct regions *regions, const char *name)
{
	unsigned hash = 5381; /* Bernstein's */

	for (; *name; name++)
		hash = hash * 33 ^ (unsigned char)*name;
	return &regions->buckets[hash % REGION_BUCKETS];
}

static struct region *find(struct region *const *bucket, const char *name)
{
	struct region *region = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);

	while (region && strcmp(region->name, name) != 0)
		region = region->next;
	return region;
}

static int region_new(
	struct regions *regions, struct region **bucket, const char *name, struct region **ret)
{
	int index = table_find_or_add(regions->team.table, name);
	struct region *region;

	if (index < 0)
		return error_say(index,
			"There are %d regions already, the most: %s is not measured.",
			TABLE_REGIONS_MAX, name);
	region = calloc(1, sizeof *region);
	if (!region)
		return regions_no_memory();
	strcpy(region->name, name);
	region->index = (unsigned)index;
	pthread_mutex_init(&region->lock, NULL);
	region->next = *bucket;
	__atomic_store_n(bucket, region, __ATOMIC_RELEASE);
	*ret = region;
	return 0;
}

int regions_find_or_add(struct regions *regions, const char *name, struct region **ret)
{
	struct region **bucket = bucket_of(regions, name);
	int r = 0;

	*ret = find(bucket, name);
	if (*ret)
		return 0;
	pthread_mutex_lock(&regions->lock);
	*ret = find(bucket, name);
	if (!*ret)
		r = region_new(regions, bucket, name, ret);
	pthread_mutex_unlock(&regions->lock);
	return r;
}
