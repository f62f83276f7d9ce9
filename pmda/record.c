/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/record.h"

#include <errno.h>
#include <inttypes.h>
#include <pcp/pmapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNTERS_MAX = 16384 }; /* PAPI cannot take more */

#define HEADING "uncore perfevent 1 %" SCNx64 " %" SCNx64 " %u"
#define LINE    "%31s %31s %u %u %u %d %" SCNu64 " %" SCNu64 " %" SCNu32

/* Where PCP's agents keep what must survive them. */
static void make_path(char ret[MAXPATHLEN], const char *suffix)
{
	snprintf(ret, MAXPATHLEN, "%s/config/pmda/uncore.perfevent%s", pmGetConfig("PCP_VAR_DIR"),
		suffix);
}

static bool read_counter(FILE *file, struct counter *ret)
{
	int offered;

	ret->channel = -1;
	if (fscanf(file, LINE, ret->pmu, ret->event, &ret->cluster, &ret->item, &ret->cpu, &offered,
		    &ret->base, &ret->count, &ret->bytes) != 9)
		return false;
	ret->offered = offered;
	return ret->cluster < 4096 && ret->item < 1024 && ret->base <= ret->count && ret->bytes;
}

/* The file is whole or not at all: it is replaced by rename(2). */
static bool read_all(FILE *file, struct record *record)
{
	for (unsigned i = 0; i < record->n_counters; i++)
		if (!read_counter(file, &record->counters[i]))
			return false;
	return true;
}

static FILE *open_record(struct record *record)
{
	char path[MAXPATHLEN];
	FILE *file;

	make_path(path, "");
	file = fopen(path, "re");
	if (!file)
		return NULL;
	if (fscanf(file, HEADING, &record->generation[0], &record->generation[1],
		    &record->n_counters) == 3 &&
		record->n_counters <= COUNTERS_MAX)
		return file;
	fclose(file);
	return NULL;
}

int record_load(struct record *record, unsigned n_more)
{
	FILE *file = open_record(record);

	if (!file)
		*record = (struct record){ 0 };
	record->counters = calloc(record->n_counters + n_more + 1, sizeof *record->counters);
	if (file && record->counters && !read_all(file, record))
		record->n_counters = 0;
	if (file)
		fclose(file);
	return record->counters ? 0 : -ENOMEM;
}

static void write_all(FILE *file, const struct record *record)
{
	fprintf(file, "uncore perfevent 1 %" PRIx64 " %" PRIx64 " %u\n", record->generation[0],
		record->generation[1], record->n_counters);
	for (unsigned i = 0; i < record->n_counters; i++) {
		const struct counter *c = &record->counters[i];

		fprintf(file, "%s %s %u %u %u %d %" PRIu64 " %" PRIu64 " %" PRIu32 "\n", c->pmu,
			c->event, c->cluster, c->item, c->cpu, c->offered, c->base, c->count,
			c->bytes);
	}
}

void record_save(const struct record *record)
{
	char path[MAXPATHLEN], new_path[MAXPATHLEN], suffix[32];
	bool failed;
	FILE *file;

	snprintf(suffix, sizeof suffix, ".%d", (int)getpid());
	make_path(path, "");
	make_path(new_path, suffix);
	file = fopen(new_path, "wxe");
	if (!file)
		return;
	write_all(file, record);
	failed = ferror(file);
	if (fclose(file) || failed || rename(new_path, path) < 0)
		unlink(new_path);
}
