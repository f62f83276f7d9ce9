/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any uncored.conf is loaded, or refused with a sentence: at the start, when it takes the place of
 * another while the daemon runs, and when another takes its place.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/site/config.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

static const char other[] = "[server]\nmax_clients = 7\n[reader]\nrealtime = no\n";

/* --- in the place of the names service --- */

static enum { IT_ANSWERS, IT_IS_DOWN, IT_KNOWS_NOBODY, SERVICES } names_service;

static void *say(const char *name, void *known)
{
	static const int errors[] = { [IT_IS_DOWN] = EIO, [IT_KNOWS_NOBODY] = ENOENT };

	if (names_service == IT_ANSWERS)
		return strncmp(name, "known", 5) ? NULL : known;
	errno = errors[names_service];
	return NULL;
}

struct group *getgrnam(const char *name)
{
	static struct group group = { .gr_gid = 1000 };

	return say(name, &group);
}

struct passwd *getpwnam(const char *name)
{
	static struct passwd user = { .pw_uid = 1000 };

	return say(name, &user);
}

/* --- the file --- */

static void check(int r, const struct fault *fault)
{
	if (r < 0 && !fault->text[0])
		abort();
}

static void note_kept(const char *key)
{
	if (!key[0])
		abort();
}

/* The file changes to @text. */
static void reload(struct config *config, const uint8_t *text, size_t size_bytes)
{
	struct fault fault = { "" };

	scratch_write("uncored.conf", text, size_bytes);
	check(config_reload(config, note_kept, &fault), &fault);
}

static void find(const char *path, const uint8_t *data, size_t size_bytes)
{
	static const char too_long[] = "/0123456789012345678901234567890123456789012345678901234567"
				       "8901234567890123456789012345678901234567890123456789";
	struct config_origin origin = { path, "/here" };
	struct config config;
	struct fault fault = { "" };
	int r = config_find(&origin, NULL, &config, &fault);

	check(r, &fault);
	if (r < 0)
		return;
	reload(&config, (const uint8_t *)other, strlen(other));
	reload(&config, data, size_bytes);
	for (names_service = IT_IS_DOWN; names_service < SERVICES; names_service++)
		reload(&config, data, size_bytes);
	names_service = IT_ANSWERS;
	origin.socket_path = too_long;
	if (config_find(&origin, NULL, &config, &fault) != -ENAMETOOLONG)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static const struct config_origin nowhere = { "/nowhere/at/all", NULL };
	char path[256];
	struct config config;
	struct fault fault = { "" };

	strcpy(path, scratch_write("uncored.conf", data, size_bytes));
	check(config_load(path, NULL, &config, &fault), &fault);
	find(path, data, size_bytes);
	if (config_load(NULL, NULL, &config, &fault) < 0 ||
		config_find(&nowhere, NULL, &config, &fault) != -EINVAL)
		abort();
	return 0;
}
