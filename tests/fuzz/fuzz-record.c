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
#include "pmda/saved.h"
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
static void save_in_vain(const struct saved *saved)
{
	char path[256], away[256];

	snprintf(path, sizeof path, "%s/config", scratch_folder());
	snprintf(away, sizeof away, "%s/away", scratch_folder());
	if (rename(path, away) < 0)
		err(1, "Cannot rename %s", path);
	saved_save(saved);
	saved_save(saved);
	if (rename(away, path) < 0)
		err(1, "Cannot rename %s", away);
}

static struct saved load(void)
{
	struct saved saved;

	if (saved_load(&saved, MORE) < 0)
		abort();
	/* there must be room behind the counters that were read */
	memset(&saved.counters[saved.n_counters], 0, MORE * sizeof *saved.counters);
	return saved;
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
	struct saved saved, again;

	make_folders();
	scratch_write("config/pmda/uncore.perfevent", data, size_bytes);
	saved = load();
	saved.is_public = size_bytes & 1;
	save_in_vain(&saved);
	saved_save(&saved);
	again = load();
	if (again.n_counters != saved.n_counters || again.is_public != saved.is_public)
		abort();
	for (unsigned i = 0; i < saved.n_counters; i++) {
		check(&saved.counters[i]);
		if (!same(&saved.counters[i], &again.counters[i]))
			abort();
	}
	free(saved.counters);
	free(again.counters);
	return 0;
}
