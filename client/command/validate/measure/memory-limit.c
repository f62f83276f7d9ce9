/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/memory-limit.h"

#include <stdio.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"

enum { PATH_BYTES = 4096 };

/* The files of a cgroup hierarchy: of version 2 (cgroup-v2.rst), or of the memory controller of
 * version 1. */
struct hierarchy {
	const char *prefix; /* of its line in /proc/self/cgroup, after the number */
	const char *root, *limit, *usage;
};

static const struct hierarchy hierarchies[] = {
	{ "::", "/sys/fs/cgroup", "memory.max", "memory.current" },
	{ ":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes" },
};

/* The number in a file of a cgroup; UINT64_MAX if there is none ("max", or no such file). */
static uint64_t read_number(const struct hierarchy *hierarchy, const char *group, const char *name)
{
	char path[2 * PATH_BYTES], text[32] = "";
	_cleanup_file_ FILE *file = NULL;
	uint64_t number;

	snprintf(path, sizeof path, "%s%s/%s", hierarchy->root, group, name);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof text, file))
		return UINT64_MAX;
	return number_parse(text, 10, UINT64_MAX, &number) ? number : UINT64_MAX;
}

static uint64_t rest_of(const struct hierarchy *hierarchy, const char *group)
{
	uint64_t limit = read_number(hierarchy, group, hierarchy->limit);
	uint64_t usage = read_number(hierarchy, group, hierarchy->usage);

	if (limit == UINT64_MAX || usage == UINT64_MAX)
		return UINT64_MAX;
	return limit > usage ? limit - usage : 0;
}

/* The limits of all groups above hold, too. Shortens @group. */
static uint64_t rest_of_all(const struct hierarchy *hierarchy, char *group)
{
	uint64_t least = rest_of(hierarchy, "");
	char *slash;

	while ((slash = strrchr(group, '/'))) {
		uint64_t rest = rest_of(hierarchy, group);

		least = rest < least ? rest : least;
		*slash = '\0';
	}
	return least;
}

uint64_t memory_limit_bytes(void)
{
	_cleanup_file_ FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_BYTES];
	uint64_t least = UINT64_MAX;

	while (file && fgets(line, sizeof line, file)) {
		char *rest = strchr(line, ':');

		line[strcspn(line, "\n")] = '\0';
		for (size_t i = 0; rest && i < ARRAY_SIZE(hierarchies); i++) {
			size_t length = strlen(hierarchies[i].prefix);
			uint64_t bytes;

			if (strncmp(rest, hierarchies[i].prefix, length) != 0)
				continue;
			bytes = rest_of_all(&hierarchies[i], rest + length);
			least = bytes < least ? bytes : least;
		}
	}
	return least;
}
