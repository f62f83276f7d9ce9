/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/passage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The stretch has no figures: counts its passages as failed. */
static void fail_pending(struct region *region)
{
	region->failed += region->pending;
	region->pending = 0;
}

void passage_count_excess(struct regions *regions, struct region *region)
{
	pthread_mutex_lock(&regions->table_lock);
	region->begun++;
	region->count++;
	region->failed++;
	pthread_mutex_unlock(&regions->table_lock);
}

/* --- figures --- */

static int check_stretch(const struct regions *regions, const struct region *region)
{
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	int r = 0;

	for (uint32_t i = 0; i < regions->meter.n_sockets && r == 0; i++)
		r = uncore_delta(&region->before[i], &region->after[i], &delta);
	return r;
}

static void add_value(const struct regions *regions, struct region_value *sum,
	const struct uncore_delta_value *value)
{
	const struct uncore *handle = regions->meter.handle;

	sum->count += value->count;
	sum->quality |= value->quality;
	if (value->quality & UNCORE_ABSENT && !sum->why && handle)
		sum->why = strdup(uncore_why(handle, value->why));
}

static void add_delta(
	const struct regions *regions, struct region_sum *sum, const struct uncore_delta *delta)
{
	sum->window_ns += delta->window_ns;
	sum->skew_ns += delta->skew_ns;
	for (uint32_t i = 0; i < delta->n_values; i++)
		add_value(regions, &sum->values[i], &delta->values[i]);
}

/* Adds the stretch, which was checked. table_lock and, for its strings, meter.lock are held. */
static int add_stretch(const struct regions *regions, struct region *region)
{
	struct uncore_delta delta = UNCORE_DELTA_INIT;

	if (!region->sums)
		region->sums = calloc(regions->meter.n_sockets, sizeof *region->sums);
	if (!region->sums)
		return regions_no_memory();
	for (uint32_t i = 0; i < regions->meter.n_sockets; i++) {
		uncore_delta(&region->before[i], &region->after[i], &delta);
		add_delta(regions, &region->sums[i], &delta);
	}
	region->pending = 0;
	return 0;
}

/* --- passages --- */

int passage_begin(struct regions *regions, struct region *region)
{
	int r;

	pthread_mutex_lock(&region->lock);
	if (!region->inside)
		failure_keep(&region->failure, meter_read(&regions->meter, &region->before));
	r = failure_say(&region->failure);
	pthread_mutex_lock(&regions->table_lock);
	region->begun++;
	region->inside++;
	pthread_mutex_unlock(&regions->table_lock);
	pthread_mutex_unlock(&region->lock);
	return r;
}

/* Takes the reading at the last end; does nothing at the others. */
static int close_stretch(struct regions *regions, struct region *region)
{
	int r = failure_say(&region->failure);

	if (r < 0 || region->inside > 1)
		return r;
	r = meter_read(&regions->meter, &region->after);
	return r < 0 ? r : check_stretch(regions, region);
}

int passage_end(struct regions *regions, struct region *region, uint64_t time_ns)
{
	int r;

	pthread_mutex_lock(&region->lock);
	r = close_stretch(regions, region);
	pthread_rwlock_rdlock(&regions->meter.lock);
	pthread_mutex_lock(&regions->table_lock);
	region->count++;
	region->pending++;
	region->time_ns += time_ns;
	region->inside--;
	if (r == 0 && !region->inside)
		r = add_stretch(regions, region);
	if (r < 0)
		fail_pending(region);
	pthread_mutex_unlock(&regions->table_lock);
	pthread_rwlock_unlock(&regions->meter.lock);
	pthread_mutex_unlock(&region->lock);
	return r;
}

/* The passage's thread is gone, so when the passage would have ended is not known. */
void passage_abandon(struct regions *regions, struct region *region)
{
	pthread_mutex_lock(&region->lock);
	pthread_mutex_lock(&regions->table_lock);
	region->inside--;
	if (!region->inside)
		fail_pending(region);
	pthread_mutex_unlock(&regions->table_lock);
	pthread_mutex_unlock(&region->lock);
	regions_remember(
		regions, error_say(-ECANCELED,
				 "A thread ended inside region %s: that passage, and those "
				 "it overlapped last, have no figures.",
				 region->name));
}
