/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void region_done(struct record_region *region, uint32_t n_metrics)
{
	for (uint32_t i = 0; region->sockets && i < region->n_sockets; i++)
		for (uint32_t m = 0; m < n_metrics; m++)
			free(region->sockets[i].values[m].why);
	for (size_t i = 0; region->estimates && i < (size_t)region->n_sockets * n_metrics; i++)
		free(region->estimates[i].why);
	free(region->sockets);
	free(region->estimates);
}

void record_done(struct record *record)
{
	for (uint32_t i = 0; record->regions && i < record->n_regions; i++)
		region_done(&record->regions[i], record->n_metrics);
	free(record->regions);
	free(record->members);
	*record = (struct record){};
}

/* The room is a power of two, and doubles when it is full. */
int record_list_add(struct record_list *list, struct record *record)
{
	const uint32_t n = list->n;
	struct record *larger = list->records;

	if (n >= RECORDS_MOST)
		return -E2BIG;
	if ((n & (n - 1)) == 0)
		larger = realloc(larger, (n ? 2 * (size_t)n : 1) * sizeof *larger);
	if (!larger)
		return -ENOMEM;
	list->records = larger;
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

uint32_t record_count_not_joined(const struct record *record)
{
	return *record->team && record->n_members < record->n_expected
		       ? record->n_expected - record->n_members
		       : 0;
}

void record_warn(struct record *record, const char *format, ...)
{
	size_t used = strlen(record->warning);
	va_list arguments;

	if (used && used + 1 < sizeof record->warning)
		record->warning[used++] = ' ';
	va_start(arguments, format);
	vsnprintf(record->warning + used, sizeof record->warning - used, format, arguments);
	va_end(arguments);
}
