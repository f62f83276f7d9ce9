/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regions are the only process-wide state of the library. The pointer to that state lies in
 * memory that a forked child finds wiped, so a child starts with no regions, joins its team, or its
 * parent's table, as a new member and makes its own connection. Locks that the parent's threads
 * held at the fork do not matter.
 */
#include "client/region/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

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
	if (REPLACE(root, none, found))
		return found;
	wiped_memory_free(found, sizeof *found);
	return none;
}

struct regions *regions_now(void)
{
	struct root *found = __atomic_load_n(&root, __ATOMIC_ACQUIRE);

	return found ? __atomic_load_n(&found->regions, __ATOMIC_ACQUIRE) : NULL;
}

static struct regions *regions_new(void)
{
	_keeps_running_;
	struct regions *regions = calloc(1, sizeof *regions);

	if (!regions)
		return NULL;
	regions->inherited = last_created;
	last_created = NULL;
	if (regions->inherited)
		meter_disown(&regions->inherited->meter);
	if (team_begin(&regions->team, regions->inherited ? &regions->inherited->team : NULL) < 0) {
		free(regions);
		return NULL;
	}
	meter_init(&regions->meter, regions->team.table);
	if (!regions->team.maker) /* uncored notices the end of this process by the connection's */
		meter_connect(&regions->meter);
	pthread_mutex_init(&regions->lock, NULL);
	pthread_mutex_init(&regions->spans.lock, NULL);
	pthread_mutex_init(&regions->states.lock, NULL);
	regions_remember(regions, trace_open(regions->inherited != NULL, &regions->trace));
	regions_remember(regions, counter_wish(&regions->misses));
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

/* --- by name --- */

int region_check_text(const char *what, const char *text, size_t size_bytes)
{
	if (text && *text && memchr(text, '\0', size_bytes) && text_is_plain(text))
		return 0;
	return error_say(-EINVAL, "%s is UTF-8 of 1 to %zu bytes without control characters.", what,
		size_bytes - 1);
}

static struct region **bucket_of(struct regions *regions, const char *name)
{
	return &regions->buckets[wire_hash(name, strnlen(name, REGION_NAME_MAX)) % REGION_BUCKETS];
}

static struct region *regions_find(struct region *const *bucket, const char *name)
{
	struct region *region = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);

	while (region && strcmp(region->name, name) != 0)
		region = region->next;
	return region;
}

/* @list: a bucket, or .others. */
static struct region *region_new(struct region **list, const char *name, unsigned index)
{
	struct region *region = calloc(1, sizeof *region);

	if (!region)
		return NULL;
	strcpy(region->name, name);
	region->index = index;
	pthread_mutex_init(&region->lock, NULL);
	region->next = *list;
	__atomic_store_n(list, region, __ATOMIC_RELEASE);
	return region;
}

/* Before the first reading the number of sockets is not known. */
static bool regions_has_room(const struct regions *regions, unsigned index)
{
	const struct table *table = regions->team.table;
	const uint32_t n = LOAD(table->header.n_sockets);
	const struct table_sums *sums = &table->sums[index];

	return member_has_room(&regions->team.member, sums,
		n && n < PAGE_SOCKETS_MAX ? offsetof(struct table_sums, sockets[n]) : sizeof *sums);
}

/* Names that have no room get no memory here either: a program may make up a new one each time. */
static int regions_add(
	struct regions *regions, struct region **bucket, const char *name, struct region **ret)
{
	_keeps_running_;
	const unsigned index = table_find_or_add(regions->team.table, name);
	const char *shown = index == TABLE_OTHERS ? "(other names)" : name;

	if (!regions_has_room(regions, index))
		return error_say(-ENOSPC,
			"The table of the regions has no room for %s: it is a file, and the disk "
			"is "
			"full.",
			shown);
	STORE(regions->team.table->regions[index].has_sums, 1);
	table_use_cell(regions->team.table, regions->team.member.slot, index);
	if (regions->trace)
		trace_name(regions->trace, index, shown);
	if (index != TABLE_OTHERS)
		*ret = region_new(bucket, name, index);
	else
		*ret = regions->others ? regions->others
				       : region_new(&regions->others, shown, index);
	return *ret ? 0 : regions_no_memory();
}

int regions_find_or_add(struct regions *regions, const char *name, struct region **ret)
{
	const char *text = name ? name : "";
	struct region **bucket = bucket_of(regions, text);
	int r;

	*ret = regions_find(bucket, text);
	if (*ret)
		return 0;
	r = region_check_name(text);
	if (r < 0)
		return r;
	pthread_mutex_lock(&regions->lock);
	*ret = regions_find(bucket, text);
	if (!*ret)
		r = regions_add(regions, bucket, text, ret);
	pthread_mutex_unlock(&regions->lock);
	return r;
}

bool regions_has_name(struct regions *regions, const struct region *region, const char *name)
{
	return region->index == TABLE_OTHERS ? region_check_name(name) == 0 &&
						       !regions_find(bucket_of(regions, name), name)
					     : strcmp(region->name, name) == 0;
}
