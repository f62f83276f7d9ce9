/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/validate/measure/hwloc-library.h"
#include "common/bounds.h"
#include "common/macro.h"
#include "common/node.h"
#include "common/number.h"

/* The kernel's file has a column for each node that is online. UINT_MAX: it has none for @other. */
static unsigned place_distance(unsigned node, unsigned other)
{
	_cleanup_file_ FILE *file = node_open("", NODE_FOLDER "/node%u/distance", node);
	char online[NODE_LIST_MAX];
	unsigned found = UINT_MAX;

	node_list("", "online", online);
	for (unsigned i = 0; file && i <= other; i++)
		if (node_is_in(online, i) && fscanf(file, "%u", &found) != 1)
			return UINT_MAX;
	return found;
}

/* All caches but the first level. An exclusive cache adds to the size of the next level. */
static uint64_t cache_of(hwloc_topology_t topology, hwloc_const_cpuset_t cpus)
{
	static const hwloc_obj_type_t levels[] = { HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
		HWLOC_OBJ_L4CACHE };
	uint64_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		hwloc_obj_t cache = NULL;

		while ((cache = hwloc_get_next_obj_covering_cpuset_by_type(
				topology, cpus, levels[i], cache)))
			bytes += cache->attr->cache.size;
	}
	return bytes;
}

/* One CPU of each core: the second thread adds no traffic, and shares the caches. */
static void place_add_cpus(
	struct place *place, hwloc_topology_t topology, hwloc_const_cpuset_t cpus)
{
	hwloc_obj_t core = NULL;

	while ((core = hwloc_get_next_obj_covering_cpuset_by_type(
			topology, cpus, HWLOC_OBJ_CORE, core))) {
		hwloc_obj_t pu = hwloc_get_obj_inside_cpuset_by_type(
			topology, core->cpuset, HWLOC_OBJ_PU, 0);

		if (pu && place->n_cpus < PLACE_CPUS_MAX)
			place->cpus[place->n_cpus++] = pu->os_index;
	}
}

static unsigned place_package_of(hwloc_topology_t topology, unsigned cpu)
{
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, cpu);
	hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);

	return package ? package->os_index : 0;
}

static void place_describe(struct place *place, hwloc_topology_t topology, hwloc_obj_t node)
{
	*place = (struct place){ .node = node->os_index };
	place->free_bytes = node_bytes("", place->node, "MemFree:");
	if (place->free_bytes == NODE_NOT_KNOWN)
		place->free_bytes = 0;
	/* The kernel's list also has CPUs that this process may not use. */
	place->memory_only = node_first_cpu("", place->node) < 0;
	if (place->memory_only)
		return;
	place_add_cpus(place, topology, node->cpuset);
	place->cache_bytes = cache_of(topology, node->cpuset);
	if (place->n_cpus)
		place->package = place_package_of(topology, place->cpus[0]);
}

/* Gives a node without CPUs those of the nearest node that has some. */
static void borrow_cpus(struct place *place, const struct places *places)
{
	const struct place *nearest = NULL;

	for (unsigned i = 0; i < places->n; i++) {
		const struct place *other = &places->place[i];

		if (!other->memory_only &&
			(!nearest || place_distance(place->node, other->node) <
					     place_distance(place->node, nearest->node)))
			nearest = other;
	}
	if (!nearest)
		return;
	place->package = nearest->package;
	place->n_cpus = nearest->n_cpus;
	memcpy(place->cpus, nearest->cpus, sizeof place->cpus);
	place->cache_bytes = nearest->cache_bytes;
}

static void count_nodes(struct places *places)
{
	for (unsigned i = 0; i < places->n; i++)
		for (unsigned k = 0; k < places->n; k++)
			places->place[i].n_nodes_of_package +=
				!places->place[k].memory_only &&
				places->place[k].package == places->place[i].package;
}

/* Leaves out nodes without a CPU to run on, or without memory. */
static void drop_useless(struct places *places)
{
	unsigned n = 0;

	for (unsigned i = 0; i < places->n; i++)
		if (places->place[i].n_cpus && places->place[i].free_bytes) {
			places->has_memory_nodes |= places->place[i].memory_only;
			places->place[n++] = places->place[i];
		}
	places->n_left_out = places->n - n;
	places->n = n;
}

/* hwloc leaves out what cgroups forbid, but not what the affinity of the process forbids. */
static int leave_out_forbidden(hwloc_topology_t topology)
{
	hwloc_cpuset_t cpus = hwloc_bitmap_alloc();
	int r = -1;

	if (cpus && hwloc_get_cpubind(topology, cpus, HWLOC_CPUBIND_PROCESS) == 0)
		r = hwloc_topology_restrict(topology, cpus, 0);
	hwloc_bitmap_free(cpus);
	return r;
}

/* On another system, hwloc takes all calls that bind, and does nothing. */
static int place_load_topology(hwloc_topology_t topology)
{
	if (hwloc_topology_load(topology) < 0)
		return -ENOMEM;
	if (!hwloc_topology_is_thissystem(topology))
		return -EXDEV;
	return leave_out_forbidden(topology) < 0 ? -ENOMEM : 0;
}

int places_find(struct places *ret)
{
	hwloc_obj_t node = NULL;
	int r;

	if (hwloc_library_load())
		return -ENOSYS;
	if (hwloc_topology_init(&ret->topology) < 0)
		return -ENOMEM;
	r = place_load_topology(ret->topology);
	if (r < 0)
		return r;
	while (ret->n < PLACES_MAX &&
		(node = hwloc_get_next_obj_by_type(ret->topology, HWLOC_OBJ_NUMANODE, node)))
		place_describe(&ret->place[ret->n++], ret->topology, node);
	for (unsigned i = 0; i < ret->n; i++)
		if (ret->place[i].memory_only)
			borrow_cpus(&ret->place[i], ret);
	drop_useless(ret);
	count_nodes(ret);
	return ret->n ? 0 : -ENODEV;
}

void places_done(struct places *places)
{
	if (places->topology)
		hwloc_topology_destroy(places->topology);
}

/* --- what a cgroup leaves --- */

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
static uint64_t place_read_number(
	const struct hierarchy *hierarchy, const char *group, const char *name)
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

/* What is left in @group and in all groups above, whose limits hold, too. Shortens @group. */
static uint64_t rest_of(const struct hierarchy *hierarchy, char *group)
{
	uint64_t least = UINT64_MAX;

	for (;;) {
		const uint64_t limit = place_read_number(hierarchy, group, hierarchy->limit);
		const uint64_t usage = place_read_number(hierarchy, group, hierarchy->usage);
		const uint64_t rest = limit > usage ? limit - usage : 0;
		char *slash = strrchr(group, '/');

		if (limit != UINT64_MAX && usage != UINT64_MAX)
			least = least_of(least, rest);
		if (!slash)
			return least;
		*slash = '\0';
	}
}

uint64_t places_limit_bytes(void)
{
	_cleanup_file_ FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_BYTES];
	uint64_t least = UINT64_MAX;

	while (file && fgets(line, sizeof line, file)) {
		char *rest = strchr(line, ':');

		line[strcspn(line, "\n")] = '\0';
		for (size_t i = 0; rest && i < ARRAY_SIZE(hierarchies); i++) {
			size_t length = strlen(hierarchies[i].prefix);

			if (strncmp(rest, hierarchies[i].prefix, length) == 0)
				least = least_of(least, rest_of(&hierarchies[i], rest + length));
		}
	}
	return least;
}
