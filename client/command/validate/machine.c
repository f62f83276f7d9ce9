/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/machine.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"

void machine_processor(
	void (*take)(void *context, const char *key, const char *value), void *context)
{
	static const char *const keys[] = { "vendor_id", "cpu family", "model", "model name",
		"stepping", "microcode", "cpu", "revision", "CPU implementer", "CPU part" };
	_cleanup_file_ FILE *file = fopen("/proc/cpuinfo", "re");
	char line[256];

	while (file && fgets(line, sizeof line, file) && *line != '\n') {
		char *colon = strchr(line, ':'), *end;

		if (!colon)
			continue;
		for (end = colon; end > line && (end[-1] == '\t' || end[-1] == ' '); end--)
			;
		*end = '\0';
		colon[strcspn(colon, "\n")] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (strcmp(line, keys[i]) == 0)
				take(context, keys[i], colon[1] ? colon + 2 : "");
	}
}

static unsigned count_paths(const char *pattern)
{
	glob_t found = { .gl_pathc = 0 };
	unsigned n = glob(pattern, 0, NULL, &found) == 0 ? (unsigned)found.gl_pathc : 0;

	globfree(&found);
	return n;
}

struct machine_memory machine_memory(void)
{
	return (struct machine_memory){
		.n_dimms = count_paths("/sys/devices/system/edac/mc/mc*/dimm*"),
		.n_controllers = count_paths("/sys/devices/system/edac/mc/mc*"),
	};
}
