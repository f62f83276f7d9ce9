/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"

static const char NODES[] = "/sys/devices/system/node";

/* Opens file @name of @node. */
static FILE *open_of_node(unsigned node, const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "%s/node%u/%s", NODES, node, name);
	return fopen(path, "re");
}

/* Does the kernel list no CPU for @node, not even one that this process may not use? */
static bool is_memory_only(unsigned node)
{
	_cleanup_file_ FILE *file = open_of_node(node, "cpulist");
	char text[16] = "";

	return file && (!fgets(text, sizeof text, file) || *text == '\n');
}

/* "Node 0 MemFree:  123 kB" */
static uint64_t free_of(unsigned node)
{
	_cleanup_file_ FILE *file = open_of_node(node, "meminfo");
	unsigned long long kib;
	char line[128];

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Node %*u MemFree: %llu kB", &kib) == 1)
			return kib * 1024;
	return 0;
}

/* How many nodes with smaller numbers exist: a row of distances has only existing nodes. */
static unsigned column_of(unsigned node)
{
	unsigned n = 0;

	for (unsigned i = 0; i < node; i++) {
		_cleanup_file_ FILE *file = open_of_node(i, "distance");

		n += file != NULL;
	}
	return n;
}

/* The distance from @node to @other, or UINT32_MAX. The file has "10 21". */
static unsigned distance(unsigned node, unsigned other)
{
	_cleanup_file_ FILE *file = open_of_node(node, "distance");
	unsigned found = UINT32_MAX, column = column_of(other);

	for (unsigned i = 0; file && i <= column; i++)
		if (fscanf(file, "%u", &found) != 1)
			return UINT32_MAX;
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
static void add_cpus(struct place *place, hwloc_topology_t topology, hwloc_const_cpuset_t cpus)
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

static unsigned package_of(hwloc_topology_t topology, unsigned cpu)
{
	hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, cpu);
	hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);

	return package ? package->os_index : 0;
}

static void describe(struct place *place, hwloc_topology_t topology, hwloc_obj_t node)
{
	*place = (struct place){ .node = node->os_index, .free_bytes = free_of(node->os_index) };
	place->memory_only = is_memory_only(node->os_index);
	if (place->memory_only)
		return;
	add_cpus(place, topology, node->cpuset);
	place->cache_bytes = cache_of(topology, node->cpuset);
	if (place->n_cpus)
		place->package = package_of(topology, place->cpus[0]);
}

/* Gives a node without CPUs those of the nearest node that has some. */
static void borrow_cpus(struct place *place, const struct places *places)
{
	const struct place *nearest = NULL;

	for (unsigned i = 0; i < places->n; i++) {
		const struct place *other = &places->place[i];

		if (!other->memory_only &&
			(!nearest || distance(place->node, other->node) <
					     distance(place->node, nearest->node)))
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
		if (places->place[i].n_cpus && places->place[i].free_bytes)
			places->place[n++] = places->place[i];
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

int places_find(struct places *ret)
{
	hwloc_obj_t node = NULL;

	ret->n = 0;
	if (hwloc_topology_init(&ret->topology) < 0)
		return -ENOMEM;
	if (hwloc_topology_load(ret->topology) < 0 || leave_out_forbidden(ret->topology) < 0) {
		places_done(ret);
		return -ENOMEM;
	}
	while (ret->n < PLACES_MAX &&
		(node = hwloc_get_next_obj_by_type(ret->topology, HWLOC_OBJ_NUMANODE, node)))
		describe(&ret->place[ret->n++], ret->topology, node);
	for (unsigned i = 0; i < ret->n; i++)
		if (ret->place[i].memory_only)
			borrow_cpus(&ret->place[i], ret);
	drop_useless(ret);
	count_nodes(ret);
	if (ret->n)
		return 0;
	places_done(ret);
	return -ENODEV;
}

void places_done(struct places *places)
{
	hwloc_topology_destroy(places->topology);
}
