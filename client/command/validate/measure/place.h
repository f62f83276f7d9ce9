/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NUMA nodes of the machine, each with the CPUs near its memory: the places where kernels run.
 * A node without CPUs (HBM in flat mode, memory on an expansion card) gets those of the nearest
 * node. CPUs that this process may not use, by its affinity or its cgroup, count as absent.
 */
#pragma once

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

enum { PLACE_CPUS_MAX = 1024, PLACES_MAX = 256 };

struct place {
	unsigned node;    /* the kernel's number of the NUMA node with the memory */
	unsigned package; /* the kernel's physical_package_id of the CPUs */
	bool memory_only;
	unsigned n_nodes_of_package; /* with CPUs: more than one under SNC or NPS */
	unsigned n_cpus;             /* one for each core */
	unsigned cpus[PLACE_CPUS_MAX];
	uint64_t cache_bytes; /* caches of all these CPUs, but for the first level */
	uint64_t free_bytes;
};

struct places {
	hwloc_topology_t topology;
	bool has_memory_nodes;  /* the machine has nodes without CPUs */
	unsigned n, n_left_out; /* nodes with CPUs or memory that this process may not use */
	struct place place[PLACES_MAX];
};

/* *@ret begins as zero, and places_done() frees it in any case. 0, -ENOMEM, -ENOSYS: hwloc cannot
 * be loaded; -ENODEV: the kernel shows no NUMA node that this process may use; -EXDEV: hwloc shows
 * another machine than this one, on which it binds nothing. */
int places_find(struct places *ret);

void places_done(struct places *places);

/* Bytes that this process may still allocate before its cgroup's limit ends it; UINT64_MAX: there
 * is no limit. */
uint64_t places_limit_bytes(void);
