/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/cpus.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"

/* Appends @part if "..." still fits after it. Otherwise appends "..." and returns false. */
static bool cpus_append(char text[CPUS_TEXT_MAX], const char *part)
{
	size_t n = strlen(text), room = CPUS_TEXT_MAX - n;
	bool fits = strlen(part) + strlen("...") < room;

	snprintf(text + n, room, "%s", fits ? part : "...");
	return fits;
}

void cpus_list(const cpu_set_t *cpus, size_t size_bytes, char ret_text[CPUS_TEXT_MAX])
{
	size_t n_cpus = 8 * size_bytes;

	*ret_text = '\0';
	for (size_t first = 0; first < n_cpus; first++) {
		size_t last = first;
		char part[48];

		if (!CPU_ISSET_S(first, size_bytes, cpus))
			continue;
		while (last + 1 < n_cpus && CPU_ISSET_S(last + 1, size_bytes, cpus))
			last++;
		if (first == last)
			snprintf(part, sizeof part, "%s%zu", *ret_text ? "," : "", first);
		else
			snprintf(part, sizeof part, "%s%zu-%zu", *ret_text ? "," : "", first, last);
		if (!cpus_append(ret_text, part))
			return;
		first = last;
	}
}

int cpus_package(unsigned cpu)
{
	_cleanup_file_ FILE *file = NULL;
	char path[96];
	int package;

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
		cpu);
	file = fopen(path, "re");
	return file && fscanf(file, "%d", &package) == 1 ? package : -1;
}
