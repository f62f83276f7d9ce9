/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/tree.h"

#include <errno.h>

#include "daemon/machine/topology.h"

static struct topology load(const char *machine)
{
	struct topology topology;
	struct fault fault;
	char path[PATH_MAX];

	machine_path(machine, path);
	assert_int_equal(topology_load(path, &topology, &fault), 0);
	return topology;
}

/* Describes a machine with four packages to hwloc. */
static void write_xml(const char *path)
{
	hwloc_topology_t topology;

	assert_int_equal(hwloc_topology_init(&topology), 0);
	assert_int_equal(hwloc_topology_set_synthetic(topology, "pack:4 core:2 pu:2"), 0);
	assert_int_equal(hwloc_topology_load(topology), 0);
	assert_int_equal(hwloc_topology_export_xml(topology, path, 0), 0);
	hwloc_topology_destroy(topology);
}

CASE("CPUs of two packages belong to two sockets")
{
	struct topology topology = load("icelake-sp");

	assert_int_equal(topology.n_sockets, 2);
	assert_int_equal(topology.n_cpus, 8);
	for (int cpu = 0; cpu < 8; cpu++) {
		assert_int_equal(topology.socket_of_cpu[cpu], cpu / 4);
		assert_int_equal(topology.die_of_cpu[cpu], cpu / 4);
	}
	assert_int_equal(topology.package_of_socket[1], 1);
	topology_done(&topology);
	assert_null(topology.socket_of_cpu);
}

CASE("dies are numbered over the whole machine")
{
	struct topology topology = load("cascade-lake-ap");

	assert_int_equal(topology.n_sockets, 2);
	for (int cpu = 0; cpu < 8; cpu++) {
		assert_int_equal(topology.socket_of_cpu[cpu], cpu / 4);
		assert_int_equal(topology.die_of_cpu[cpu], cpu / 2);
	}
	topology_done(&topology);
}

CASE("the kernel's package numbers are kept")
{
	struct topology topology = load("power9");

	assert_int_equal(topology.n_sockets, 2);
	assert_int_equal(topology.package_of_socket[0], 0);
	assert_int_equal(topology.package_of_socket[1], 8);
	topology_done(&topology);
}

CASE("an offline CPU belongs to no socket")
{
	struct topology topology = load("icelake-sp-broken");

	assert_int_equal(topology.n_sockets, 2);
	assert_int_equal(topology.socket_of_cpu[4], -1);
	assert_int_equal(topology.die_of_cpu[4], -1);
	assert_int_equal(topology.socket_of_cpu[5], 1);
	topology_done(&topology);
}

CASE("a node without CPUs adds no socket")
{
	struct topology topology = load("knl");

	assert_int_equal(topology.n_sockets, 1);
	assert_int_equal(topology.n_cpus, 4);
	topology_done(&topology);
}

CASE("the stand-in has even CPUs in socket 0, odd in socket 1")
{
	struct topology topology = load("standin");

	assert_int_equal(topology.n_sockets, topology.n_cpus > 1 ? 2 : 1);
	for (unsigned cpu = 0; cpu < topology.n_cpus; cpu++)
		assert_int_equal(topology.socket_of_cpu[cpu], cpu % 2);
	topology_done(&topology);
}

CASE("a machine without packages is one socket")
{
	struct tree tree = tree_new();
	struct topology topology;
	struct fault fault;

	tree_write(&tree, "sys/devices/system/cpu/online", "0-1\n");
	tree_write(&tree, "sys/devices/system/cpu/possible", "0-1\n");
	tree_write(&tree, "sys/devices/system/cpu/present", "0-1\n");
	tree_write(&tree, "sys/devices/system/cpu/cpu0/online", "1\n");
	tree_write(&tree, "sys/devices/system/cpu/cpu1/online", "1\n");
	/* without these files hwloc asks the computer that the test runs on */
	tree_write(&tree, "sys/devices/system/cpu/cpu0/topology/core_cpus", "1\n");
	tree_write(&tree, "sys/devices/system/cpu/cpu1/topology/core_cpus", "2\n");
	tree_write(&tree, "proc/cpuinfo", "processor\t: 0\n\nprocessor\t: 1\n");
	assert_int_equal(topology_load(tree.root, &topology, &fault), 0);
	assert_int_equal(topology.n_sockets, 1);
	assert_int_equal(topology.n_cpus, 2);
	assert_int_equal(topology.socket_of_cpu[1], 0);
	assert_int_equal(topology.die_of_cpu[1], 0);
	topology_done(&topology);
	tree_free(&tree);
}

CASE("a root without CPUs is refused")
{
	struct topology topology = { .n_cpus = 77 };
	struct tree tree = tree_new();
	struct fault fault = { .text = "" };

	assert_int_equal(topology_load(tree.root, &topology, &fault), -ENODEV);
	assert_int_equal(topology.n_cpus, 77);
	assert_non_null(strstr(fault.text, "/sys/devices/system/cpu/online cannot be read"));
	tree_free(&tree);
}

CASE("the running machine can be read")
{
	struct topology topology;
	struct fault fault;

	assert_int_equal(topology_load("/", &topology, &fault), 0);
	assert_true(topology.n_sockets >= 1);
	assert_true(topology.n_cpus >= (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
	assert_null(getenv("HWLOC_FSROOT"));
	topology_done(&topology);
}

CASE("a variable that gives hwloc another machine is refused by name, unless a root is given")
{
	static const struct {
		const char *name, *value, *components;
	} rows[] = {
		{ "HWLOC_SYNTHETIC", "pack:4 core:2 pu:2", NULL },
		{ "HWLOC_XMLFILE", "four-packages.xml", NULL },
		{ "HWLOC_XMLFILE", "four-packages.xml", "xml" },
		{ "HWLOC_FSROOT", NULL, NULL },
	};
	char path[PATH_MAX];

	machine_path("icelake-sp", path);
	write_xml("four-packages.xml");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct topology topology = { .n_cpus = 77 };
		struct fault fault = { .text = "" };

		assert_int_equal(setenv(rows[i].name, rows[i].value ? rows[i].value : path, 1), 0);
		if (rows[i].components)
			setenv("HWLOC_COMPONENTS", rows[i].components, 1);
		assert_int_equal(topology_load("/", &topology, &fault), -EINVAL);
		assert_int_equal(topology.n_cpus, 77);
		assert_non_null(strstr(fault.text, rows[i].name));
		topology = load("power9");
		assert_int_equal(topology.package_of_socket[1], 8);
		topology_done(&topology);
		unsetenv(rows[i].name);
	}
	unlink("four-packages.xml");
}
