/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/traffic/plugin/placement.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

enum { VCPUS_MAX = 1024 };

static struct {
	unsigned n_sockets, cpus_per_socket;
	bool is_system;
	unsigned changes; /* how often threads were told where they may run, and once more */
	struct {
		struct cpu *cpu;
		unsigned seen; /* of the changes; 0: it has no place yet */
	} vcpus[VCPUS_MAX];
} placement;

void placement_init(const struct options *options, bool is_system)
{
	placement.n_sockets = (unsigned)options->n_sockets;
	placement.cpus_per_socket = (unsigned)options->cpus_per_socket;
	placement.is_system = is_system;
	placement.changes = 1;
}

int placement_add(unsigned vcpu)
{
	if (vcpu >= VCPUS_MAX) {
		fprintf(stderr, "memory-controller: there are more than %d CPUs or threads.\n",
			VCPUS_MAX);
		return -E2BIG;
	}
	placement.vcpus[vcpu].seen = 0;
	if (!placement.vcpus[vcpu].cpu)
		placement.vcpus[vcpu].cpu = cpu_new();
	if (placement.vcpus[vcpu].cpu)
		return 0;
	fprintf(stderr, "memory-controller: there is no memory for the caches of CPU %u.\n", vcpu);
	return -ENOMEM;
}

void placement_changed(void)
{
	__atomic_fetch_add(&placement.changes, 1, __ATOMIC_RELAXED);
}

/* The only CPU that this thread may run on, or -1. */
static int only_cpu(void)
{
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof set, &set) < 0 || CPU_COUNT(&set) != 1)
		return -1;
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	return cpu;
}

static __attribute__((noinline)) void place(unsigned vcpu, unsigned changes)
{
	int only = placement.is_system ? -1 : only_cpu();
	unsigned number = only >= 0 ? (unsigned)only : vcpu;
	unsigned socket = placement.is_system ? number / placement.cpus_per_socket : number;

	cpu_place(placement.vcpus[vcpu].cpu, socket % placement.n_sockets);
	placement.vcpus[vcpu].seen = changes;
}

struct cpu *placement_cpu(unsigned vcpu)
{
	unsigned changes = __atomic_load_n(&placement.changes, __ATOMIC_RELAXED);

	if (placement.vcpus[vcpu].seen != changes)
		place(vcpu, changes);
	return placement.vcpus[vcpu].cpu;
}
