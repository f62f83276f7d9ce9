/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

static void record_region_done(struct record_region *region)
{
	for (uint32_t i = 0; region->sockets && i < region->n_sockets; i++) {
		for (uint32_t m = 0; m < UNCORE_METRICS_MAX; m++)
			free(region->sockets[i].values[m].why);
		free(region->sockets[i].sums);
	}
	free(region->sockets);
	free(region->member_ns);
	free(region->title);
	free(region->misses.absent);
}

void record_drop_regions(struct record *record)
{
	for (uint32_t i = 0; record->regions && i < record->n_regions; i++)
		record_region_done(&record->regions[i]);
	free(take_ptr(record->regions));
	record->n_regions = 0;
	if (record->outside)
		record_region_done(record->outside);
	free(take_ptr(record->outside));
}

void record_done(struct record *record)
{
	record_drop_regions(record);
	free(record->members);
	free(record->failure);
	free(record->warning);
	*record = (struct record){};
}

int record_list_add(struct record_list *list, struct record *record)
{
	if (list->n >= RECORDS_MOST)
		return -E2BIG;
	if (array_room(&list->records, list->n, sizeof *list->records) < 0)
		return -ENOMEM;
	list->records[list->n++] = *record;
	*record = (struct record){};
	return 0;
}

void record_list_cut(struct record_list *list, uint32_t n)
{
	while (list->n > n)
		record_done(&list->records[--list->n]);
}

void record_list_done(struct record_list *list)
{
	record_list_cut(list, 0);
	free(list->records);
	list->records = NULL;
}

/* A record without a begin or without an end is only a moment. On the nodes of one run, the begins
 * are at most this far apart, and so are the ends. */
static const int64_t NEAR_NS = 5000000000;

int64_t record_first_ns(const struct record *record)
{
	return record->begun_ns || !record->rows ? record->begun_ns : record->ended_ns - NEAR_NS;
}

int64_t record_last_ns(const struct record *record)
{
	return record->ended_ns || !record->rows ? record->ended_ns : record->begun_ns + NEAR_NS;
}

uint32_t record_count_not_joined(const struct record *record)
{
	return *record->team && record->n_members < record->n_expected
		       ? record->n_expected - record->n_members
		       : 0;
}

uint32_t record_count_died(const struct record *record)
{
	uint32_t n = record->n_died;

	for (uint32_t i = 0; record->members && i < record->n_members; i++)
		n += record->members[i].died;
	return n;
}

void record_warn(struct record *record, const char *format, ...)
{
	size_t used;
	va_list arguments;

	if (!record->warning)
		record->warning = calloc(RECORD_WARNING_BYTES, 1);
	if (!record->warning)
		return;
	used = strlen(record->warning);
	if (used && used + 1 < RECORD_WARNING_BYTES)
		record->warning[used++] = ' ';
	va_start(arguments, format);
	vsnprintf(record->warning + used, RECORD_WARNING_BYTES - used, format, arguments);
	va_end(arguments);
}

bool record_has_hole(const struct record_region *region)
{
	return region->lost_ns || region->n_failed || region->n_open || region->n_died;
}
