/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>

#include "common/macro.h"
#include "daemon/read/affinity.h"

static const uint64_t SECOND_NS = 1000000000;

static int find(const char *machine, const char *pmu, uint32_t package)
{
	char path[PATH_MAX];
	_cleanup_close_ int root_fd = -1;

	machine_path(machine, path);
	root_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(root_fd >= 0);
	return affinity_find(root_fd, pmu, package);
}

CASE("the CPU that is in charge is found")
{
	assert_int_equal(find("icelake-sp", "uncore_imc_3", 0), 0);
	assert_int_equal(find("icelake-sp", "uncore_imc_3", 1), 4);
	assert_int_equal(find("power9", "nest_mba0_imc", 8), 4);
}

/* The memory controllers of altra's second socket are offered on a CPU of the first. */
CASE("the CPU of a PMU with a place may be of another package")
{
	struct platform platform = { .pmu_sockets = "arm_dmc620_1* | arm_dmc620_5*" };
	struct plan_box boxes[] = { { .pmu = "arm_cmn_0", .cpu = 2 },
		{ .pmu = "arm_dmc620_50008c000", .cpu = 0 } };
	struct plan_socket sockets[] = { { .cpu = 0, .package = 1, .n_boxes = 2 } };
	const struct plan plan = { &platform, .n_sockets = 1, .n_boxes = 2, .sockets = sockets,
		.boxes = boxes };
	struct affinity affinity = affinity_of(&plan, 0);

	assert_string_equal(affinity.pmu, "arm_dmc620_50008c000");
	assert_int_equal(find("altra", affinity.pmu, affinity.package), 0);
	assert_int_equal(find("altra", affinity.pmu, 1), -ENOENT);
	platform.pmu_sockets[0] = '\0';
	assert_int_equal(affinity_of(&plan, 0).package, 1);
}

CASE("no CPU in charge is ENOENT")
{
	assert_int_equal(find("icelake-sp", "uncore_imc_3", 2), -ENOENT);
	assert_int_equal(find("icelake-sp", "uncore_imc_99", 0), -ENOENT);
	assert_int_equal(find("icelake-sp", "cpu", 0), -ENOENT);
}

/* --- on the CPUs of this computer --- */

static cpu_set_t all_cpus;

static int remember_cpus(void **state)
{
	return sched_getaffinity(0, sizeof all_cpus, &all_cpus);
}

static int nth_cpu(unsigned n)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all_cpus) && n-- == 0)
			return cpu;
	return -1;
}

/* Moves the thread as the kernel moves a thread whose CPU goes offline. */
static void push_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
	assert_int_equal(sched_getcpu(), cpu);
}

CASE("a thread goes back to its CPU")
{
	struct affinity affinity = { .cpu = nth_cpu(1), .pmu = "no_such_pmu" };

	if (affinity.cpu < 0)
		skip();
	push_to(nth_cpu(0));
	affinity_follow(&affinity, SECOND_NS);
	assert_int_equal(sched_getcpu(), affinity.cpu);
	assert_int_equal(affinity.cpu, nth_cpu(1));
}

CASE("a thread looks once a second")
{
	struct affinity affinity = { .cpu = nth_cpu(1), .pmu = "no_such_pmu" };

	if (affinity.cpu < 0)
		skip();
	push_to(nth_cpu(0));
	affinity_follow(&affinity, 5 * SECOND_NS);
	push_to(nth_cpu(0));
	affinity_follow(&affinity, 6 * SECOND_NS - 1);
	assert_int_equal(sched_getcpu(), nth_cpu(0));
	affinity_follow(&affinity, 6 * SECOND_NS);
	assert_int_equal(sched_getcpu(), nth_cpu(1));
}

CASE("a thread without a CPU stays where it is")
{
	struct affinity affinity = { .cpu = -1 };

	push_to(nth_cpu(0));
	affinity_follow(&affinity, 5 * SECOND_NS);
	assert_int_equal(sched_getcpu(), nth_cpu(0));
	assert_int_equal(affinity.looked_ns, 0);
}

int main(void)
{
	return run_cases(remember_cpus, NULL);
}
