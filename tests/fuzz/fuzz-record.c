/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any record of PCP's agent: it is read, or empty. A record that was read and saved is read again.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/macro.h"
#include "pmda/record.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

enum { MORE = 3 };

static void make_folders(void)
{
	static const char *const names[] = { "config", "config/pmda" };
	static bool made;
	char path[256];

	if (made)
		return;
	made = true;
	if (setenv("PCP_VAR_DIR", scratch_folder(), 1) < 0)
		err(1, "Cannot begin");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof path, "%s/%s", scratch_folder(), names[i]);
		if (mkdir(path, 0700) < 0)
			err(1, "Cannot make %s", path);
	}
}

/* A record that cannot be saved has no other effect. */
static void save_in_vain(const struct record *record)
{
	char path[256], away[256];

	snprintf(path, sizeof path, "%s/config", scratch_folder());
	snprintf(away, sizeof away, "%s/away", scratch_folder());
	if (rename(path, away) < 0)
		err(1, "Cannot rename %s", path);
	record_save(record);
	record_save(record);
	if (rename(away, path) < 0)
		err(1, "Cannot rename %s", away);
}

static struct record load(void)
{
	struct record record;

	if (record_load(&record, MORE) < 0)
		abort();
	/* there must be room behind the counters that were read */
	memset(&record.counters[record.n_counters], 0, MORE * sizeof *record.counters);
	return record;
}

static void check(const struct counter *c)
{
	if (strnlen(c->pmu, sizeof c->pmu) == sizeof c->pmu ||
		strnlen(c->event, sizeof c->event) == sizeof c->event || c->source != -1 ||
		c->base > c->count || !c->bytes)
		abort();
}

static bool same(const struct counter *a, const struct counter *b)
{
	return strcmp(a->pmu, b->pmu) == 0 && strcmp(a->event, b->event) == 0 &&
	       a->cluster == b->cluster && a->item == b->item && a->socket == b->socket &&
	       a->cpu == b->cpu && a->offered == b->offered && a->base == b->base &&
	       a->count == b->count && a->bytes == b->bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct record record, again;

	make_folders();
	scratch_write("config/pmda/uncore.perfevent", data, size_bytes);
	record = load();
	record.is_public = size_bytes & 1;
	save_in_vain(&record);
	record_save(&record);
	again = load();
	if (again.n_counters != record.n_counters || again.is_public != record.is_public)
		abort();
	for (unsigned i = 0; i < record.n_counters; i++) {
		check(&record.counters[i]);
		if (!same(&record.counters[i], &again.counters[i]))
			abort();
	}
	free(record.counters);
	free(again.counters);
	return 0;
}
