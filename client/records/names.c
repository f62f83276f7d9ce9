/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/launcher/hostlist.h"
#include "common/array.h"

void names_done(struct names *names)
{
	while (names->n)
		free(names->all[--names->n]);
	free(names->all);
	free(names->slots);
	*names = (struct names){ .n = 0 };
}

/* FNV-1a */
static uint32_t names_hash_of(const struct names *names, const char *name)
{
	uint32_t hash = 2166136261;

	for (; *name && !(names->of_hosts && *name == '.'); name++)
		hash = (hash ^ (unsigned char)*name) * 16777619;
	return hash;
}

static bool names_is_same(const char *name, const char *other)
{
	return strcmp(name, other) == 0;
}

/* The slot of a name like @name, or the free one for it. At least half of the slots are free. */
static uint32_t *names_find(const struct names *names, const char *name,
	bool (*is_like)(const char *name, const char *other))
{
	uint32_t at = names_hash_of(names, name) & (names->n_slots - 1);

	while (names->slots[at] && !is_like(names->all[names->slots[at] - 1], name))
		at = (at + 1) & (names->n_slots - 1);
	return &names->slots[at];
}

static int names_make_room(struct names *names)
{
	uint32_t *slots;

	if (2 * names->n < names->n_slots)
		return 0;
	slots = calloc(names->n_slots ? 2 * (size_t)names->n_slots : 16, sizeof *slots);
	if (!slots)
		return -ENOMEM;
	free(names->slots);
	names->slots = slots;
	names->n_slots = names->n_slots ? 2 * names->n_slots : 16;
	for (uint32_t i = 0; i < names->n; i++)
		*names_find(names, names->all[i], names_is_same) = i + 1;
	return 0;
}

int64_t names_add(struct names *names, const char *name)
{
	uint32_t *slot;

	if (names_make_room(names) < 0 || array_room(&names->all, names->n, sizeof *names->all) < 0)
		return -ENOMEM;
	slot = names_find(names, name, names_is_same);
	if (*slot)
		return *slot - 1;
	names->all[names->n] = strdup(name);
	if (!names->all[names->n])
		return -ENOMEM;
	*slot = ++names->n;
	return *slot - 1;
}

bool names_have(const struct names *names, const char *name)
{
	return names->n && *names_find(names, name, names_is_same);
}

bool names_have_host(const struct names *names, const char *host)
{
	return names->n && *names_find(names, host, hostlist_is_same);
}
