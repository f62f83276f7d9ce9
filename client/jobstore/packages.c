/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobstore/packages.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "common/cpus.h"
#include "common/number.h"

enum { CPU_MOST = 65535 };

bool packages_have(const struct packages *packages, uint32_t id)
{
	for (uint32_t i = 0; i < packages->n; i++)
		if (packages->ids[i] == id)
			return true;
	return packages->n == 0;
}

/* False: the package is not known, or there is no room for it. */
static bool packages_add(struct packages *packages, unsigned cpu)
{
	int package = cpus_package(cpu);

	if (package < 0)
		return false;
	if (packages->n && packages_have(packages, (uint32_t)package))
		return true;
	if (packages->n >= PACKAGES_MAX)
		return false;
	packages->ids[packages->n++] = (uint32_t)package;
	return true;
}

static bool add_own(struct packages *packages)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof cpus, &cpus) < 0)
		return false;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &cpus) && !packages_add(packages, cpu))
			return false;
	return true;
}

/* -EINVAL; 1: all packages are known; 0: not all. */
static int add_list(const char *list, struct packages *packages)
{
	uint64_t first, last;
	bool known = true;

	do {
		list = number_parse_range(list, CPU_MOST, &first, &last);
		if (!list || (*list && *list != ','))
			return -EINVAL;
		for (uint64_t cpu = first; known && cpu <= last; cpu++)
			known = packages_add(packages, (unsigned)cpu);
	} while (*list++);
	return known;
}

int packages_parse(const char *list, struct packages *ret)
{
	struct packages packages = { .n = 0 };
	int known = strcmp(list, "self") == 0 ? add_own(&packages) : add_list(list, &packages);

	if (known < 0)
		return known;
	*ret = known ? packages : (struct packages){ .n = 0 };
	return 0;
}
