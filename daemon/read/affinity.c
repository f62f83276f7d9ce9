/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/read/affinity.h"

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>

#include "common/macro.h"
#include "common/number.h"
#include "daemon/machine/pmu.h"

static const uint64_t LOOK_AGAIN_NS = 1000000000;

struct affinity affinity_of(const struct plan *plan, unsigned socket)
{
	const struct plan_socket *s = &plan->sockets[socket];
	const struct plan_box *box = &plan->boxes[s->first_box];
	bool is_placed = plan->platform->pmu_sockets[0];

	if (s->cpu < 0)
		return (struct affinity){ .cpu = -1 };
	while (box->cpu != s->cpu)
		box++;
	return (struct affinity){
		.cpu = s->cpu,
		.pmu = box->pmu,
		.package = is_placed ? AFFINITY_ANY_PACKAGE : s->package,
	};
}

bool affinity_set(const struct affinity *affinity, pthread_t thread)
{
	size_t n_cpus = (size_t)affinity->cpu + 1, size = CPU_ALLOC_SIZE(n_cpus);
	cpu_set_t *set = CPU_ALLOC(n_cpus);
	bool taken;

	if (!set)
		return false;
	CPU_ZERO_S(size, set);
	CPU_SET_S(affinity->cpu, size, set);
	taken = pthread_setaffinity_np(thread, size, set) == 0;
	CPU_FREE(set);
	return taken;
}

/* A CPU that is offline has no package. */
static bool is_of_package(int root_fd, int cpu, uint32_t package)
{
	char path[96], text[16];
	uint64_t number;

	snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		cpu);
	return text_file_read(root_fd, path, text, sizeof text) == 0 &&
	       number_parse_whole(text, 10, UINT32_MAX, &number) &&
	       (number == package || package == AFFINITY_ANY_PACKAGE);
}

static int affinity_find_in(const char *cpumask, int root_fd, uint32_t package)
{
	_cleanup_(bitmap_free) hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	int cpu = -1;

	if (!cpus)
		return -ENOMEM;
	if (pmu_parse_cpus(cpumask, cpus))
		while ((cpu = hwloc_bitmap_next(cpus, cpu)) >= 0)
			if (is_of_package(root_fd, cpu, package))
				return cpu;
	return -ENOENT;
}

int affinity_find(int root_fd, const char *pmu, uint32_t package)
{
	char path[sizeof PMU_DEVICES "/" + PMU_NAME_MAX], text[PMU_CPUMASK_MAX];
	_cleanup_close_ int pmu_fd = -1;
	int r;

	snprintf(path, sizeof path, PMU_DEVICES "/%s", pmu);
	pmu_fd = openat(root_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (pmu_fd < 0)
		return -errno;
	r = pmu_read_cpumask(pmu_fd, text);
	return r < 0 ? r : affinity_find_in(text, root_fd, package);
}

/* Always looks below /, so it does not find the PMUs of a machine that files below another root
 * describe. Then the thread goes back to its own CPU, which stays in charge. */
bool affinity_follow(struct affinity *affinity, uint64_t now_ns)
{
	_cleanup_close_ int root_fd = -1;
	bool moved;
	int cpu;

	if (affinity->cpu < 0 || sched_getcpu() == affinity->cpu ||
		now_ns - affinity->looked_ns < LOOK_AGAIN_NS)
		return false;
	affinity->looked_ns = now_ns;
	root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cpu = affinity_find(root_fd, affinity->pmu, affinity->package);
	moved = cpu >= 0 && cpu != affinity->cpu;
	if (moved)
		affinity->cpu = cpu;
	affinity_set(affinity, pthread_self());
	return moved;
}
