/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/node.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "common/number.h"

FILE *node_open(const char *root, const char *format, ...)
{
	char path[PATH_MAX];
	va_list values;
	size_t n = (size_t)snprintf(path, sizeof path / 2, "%s", root);

	va_start(values, format);
	vsnprintf(path + n, sizeof path - n, format, values);
	va_end(values);
	return fopen(path, "re");
}

void node_list(const char *root, const char *name, char ret_list[NODE_LIST_MAX])
{
	_cleanup_file_ FILE *file = node_open(root, NODE_FOLDER "/%s", name);

	if (!file || !fgets(ret_list, NODE_LIST_MAX, file))
		*ret_list = '\0';
}

bool node_is_in(const char *list, unsigned node)
{
	uint64_t first = 0, last = 0;

	while ((list = number_parse_range(list, NODE_NUMBERS - 1, &first, &last))) {
		if (node >= first && node <= last)
			return true;
		list += *list == ',';
	}
	return false;
}

/* "Node 0 MemTotal:  123 kB" */
uint64_t node_bytes(const char *root, unsigned node, const char *label)
{
	_cleanup_file_ FILE *file = node_open(root, NODE_FOLDER "/node%u/meminfo", node);
	char line[256], found[64];
	uint64_t kib;

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Node %*u %63s %" SCNu64 " kB", found, &kib) == 2 &&
			strcmp(found, label) == 0 && kib < NODE_NOT_KNOWN / 4096)
			return 1024 * kib;
	return NODE_NOT_KNOWN;
}

int node_first_cpu(const char *root, unsigned node)
{
	_cleanup_file_ FILE *file = node_open(root, NODE_FOLDER "/node%u/cpulist", node);
	int cpu;

	return file && fscanf(file, "%d", &cpu) == 1 ? cpu : -1;
}
