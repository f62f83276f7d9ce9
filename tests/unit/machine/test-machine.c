/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/test.h"

#include <errno.h>

#include "common/macro.h"
#include "daemon/machine/machine.h"
#include "tests/harness/tree.h"

static const char x86[] = "processor\t: 0\n"
			  "vendor_id\t: GenuineIntel\n"
			  "cpu family\t: 6\n"
			  "model\t\t: 106\n"
			  "model name\t: Intel(R) Xeon(R) Platinum 8360Y CPU @ 2.40GHz\n"
			  "stepping\t: 6\n"
			  "cpu MHz\t\t: 2400.000\n"
			  "flags\t\t: fpu vme nohypervisor\n"
			  "power management:\n"
			  "\n"
			  "processor\t: 1\n"
			  "vendor_id\t: Other\n"
			  "model\t\t: 7\n";

static const char power[] = "processor\t: 0\n"
			    "cpu\t\t: POWER9, altivec supported\n"
			    "clock\t\t: 3800.000000MHz\n"
			    "revision\t: 2.2 (pvr 004e 1202)\n"
			    "\n"
			    "timebase\t: 512000000\n"
			    "platform\t: PowerNV\n"
			    "model\t\t: 8335-GTH\n";

static const char arm[] = "processor\t: 0\n"
			  "BogoMIPS\t: 2000.00\n"
			  "CPU implementer\t: 0x41\n"
			  "CPU architecture: 8\n"
			  "CPU part\t: 0xd4f\n"
			  "\n";

static void write_nodes(
	const struct tree *tree, const char *memory, const char *cpu, const char *accelerators)
{
	tree_write(tree, "sys/devices/system/node/has_memory", memory);
	tree_write(tree, "sys/devices/system/node/has_cpu", cpu);
	tree_write(tree, "sys/devices/system/node/has_generic_initiator", accelerators);
}

static void read_machine(const struct tree *tree, struct machine *ret)
{
	struct fault fault;

	assert_int_equal(machine_read(tree->fd, ret, &fault), 0);
}

static void read_cpuinfo(const char *cpuinfo, struct machine *ret)
{
	struct tree tree = tree_new();

	tree_write(&tree, "proc/cpuinfo", cpuinfo);
	read_machine(&tree, ret);
	tree_free(&tree);
}

CASE("The first x86 processor is read, and model is not model name")
{
	struct machine machine;
	char text[256];

	read_cpuinfo(x86, &machine);
	assert_false(machine.is_guest);
	assert_string_equal(machine.facts[MACHINE_CPULESS_GIB], "");
	machine_describe(&machine, text, sizeof text);
	assert_string_equal(text, "vendor GenuineIntel, family 6, model 106, stepping 6");
	machine_describe(&machine, text, 10);
	assert_string_equal(text, "vendor Ge");
	read_cpuinfo("flags : fpu hypervisor\n", &machine);
	assert_true(machine.is_guest);
	machine_describe(&machine, text, sizeof text);
	assert_string_equal(text, "proc/cpuinfo names no CPU");
}

CASE("The other keys of POWER and Arm are read")
{
	struct machine machine;
	char text[256];

	read_cpuinfo(power, &machine);
	machine_describe(&machine, text, sizeof text);
	assert_string_equal(text, "cpu POWER9, altivec supported");
	read_cpuinfo(arm, &machine);
	machine_describe(&machine, text, sizeof text);
	assert_string_equal(text, "implementer 0x41, part 0xd4f");
}

CASE("Without proc/cpuinfo there is an error")
{
	_cleanup_close_ int root = open("/proc/self/fd", O_DIRECTORY | O_CLOEXEC);
	struct machine machine;
	struct fault fault;

	assert_int_equal(machine_read(root, &machine, &fault), -ENOENT);
	assert_string_equal(fault.text, "Cannot open proc/cpuinfo: No such file or directory.");
}

CASE("NUMA nodes without CPUs are seen, with their memory")
{
	static const struct {
		const char *memory, *cpu, *accelerators, *expected;
	} cases[] = {
		{ "0-1\n", "0\n", "\n", "16" },
		{ "0-2\n", "0\n", "\n", "20" },
		{ "0-7\n", "0-3\n", "\n", "0" }, /* no node4/meminfo */
		{ "0-1\n", "0-1\n", "\n", "" },
		{ "0\n", "0-1\n", "\n", "" }, /* a node of CPUs alone is something else */
		{ "0\n", "0\n", "4-5\n", "0" },
		{ "0-1\n", "0\n", "1,3-4\n", "16" },
		{ "\n", "0\n", "\n", "" },
		{ "0-1\n", "\n", "\n", "" },
		{ "garbage\n", "0\n", "\n", "" },
	};
	struct tree tree = tree_new();

	tree_write(&tree, "proc/cpuinfo", x86);
	tree_write(&tree, "sys/devices/system/node/node1/meminfo",
		"\nNode 1 MemTotal:       16512340 kB\nNode 1 MemFree:        16312340 kB\n");
	tree_write(&tree, "sys/devices/system/node/node2/meminfo",
		"Node 2 MemTotal:       4194304 kB\n");
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct machine machine;

		write_nodes(&tree, cases[i].memory, cases[i].cpu, cases[i].accelerators);
		read_machine(&tree, &machine);
		assert_string_equal(machine.facts[MACHINE_CPULESS_GIB], cases[i].expected);
	}
	tree_free(&tree);
}

CASE("A socket is divided if two nodes with CPUs are on it")
{
#define CPUS(node) "sys/devices/system/node/node" node "/cpulist"
	static const struct {
		const char *nodes, *cpus[3];
		bool expected;
	} cases[] = {
		{ "0-1", { "0-1\n", "2-3\n", "\n" }, true },
		{ "0-1", { "0-3\n", "4-7\n", "\n" }, false },
		{ "0,2", { "0-3\n", "2-3\n", "4-5\n" }, false }, /* node 1 has no CPU */
		{ "0-2", { "0-3\n", "4-5\n", "6-7\n" }, true },
		{ "0-1", { "0-3\n", "8\n", "\n" }, false }, /* no such CPU */
		{ "0-7", { "7\n", "\n", "6\n" }, true },
	};
	int sockets[] = { 0, 0, 0, 0, 1, 1, 1, 1 };
	const struct topology topology = { true, 2, ARRAY_SIZE(sockets), sockets, NULL, NULL };
	struct tree tree = tree_new();

	assert_false(machine_is_divided(tree.fd, &topology)); /* it has no node at all */
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		write_nodes(&tree, "0-7\n", cases[i].nodes, "\n");
		tree_write(&tree, CPUS("0"), cases[i].cpus[0]);
		tree_write(&tree, CPUS("1"), cases[i].cpus[1]);
		tree_write(&tree, CPUS("2"), cases[i].cpus[2]);
		assert_int_equal(machine_is_divided(tree.fd, &topology), cases[i].expected);
	}
	tree_free(&tree);
}

CASE("A number is found in a list of numbers and ranges")
{
	static const struct {
		const char *list;
		bool expected;
	} cases[] = { { "106", true }, { "0x6a", true }, { "0x6c 0x6a", true }, { "0-200", true },
		{ "0x60-0x6f", true }, { "105 107", false }, { "0-105", false }, { "10", false } };
	struct machine machine;

	read_cpuinfo(x86, &machine);
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct machine_pattern pattern = {};

		strcpy(pattern.facts[MACHINE_MODEL], cases[i].list);
		assert_true(machine_is_list(cases[i].list));
		assert_int_equal(machine_matches(&machine, &pattern), cases[i].expected);
	}
}

CASE("A machine matches if every given key agrees")
{
	struct machine_pattern pattern = {};
	struct machine machine;

	read_cpuinfo(power, &machine);
	strcpy(pattern.facts[MACHINE_CPU], "POWER9*");
	assert_true(machine_matches(&machine, &pattern));
	pattern.asks_cpuless_node = true;
	assert_true(machine_matches(&machine, &pattern));
	pattern.cpuless_node = true;
	assert_false(machine_matches(&machine, &pattern));
	strcpy(machine.facts[MACHINE_CPULESS_GIB], "0");
	assert_true(machine_matches(&machine, &pattern));
	strcpy(pattern.facts[MACHINE_MODEL], "0-99999"); /* POWER has no such line */
	assert_false(machine_matches(&machine, &pattern));
	strcpy(pattern.facts[MACHINE_MODEL], "");
	strcpy(pattern.facts[MACHINE_CPU], "POWER10*");
	assert_false(machine_matches(&machine, &pattern));
}

CASE("A machine matches if its PMUs have the names")
{
	struct machine_pattern pattern = {};
	struct tree tree = tree_new();
	struct machine machine;

	tree_write(&tree, "proc/cpuinfo", arm);
	read_machine(&tree, &machine);
	strcpy(pattern.without_pmu, "uncore_imc_[0-9]*");
	assert_true(machine_matches(&machine, &pattern)); /* the kernel has no PMU at all */
	tree_write(&tree, "sys/bus/event_source/devices/uncore_imc_3/type", "12\n");
	assert_false(machine_matches(&machine, &pattern));
	strcpy(pattern.without_pmu, "uncore_imc");
	strcpy(pattern.with_pmu, "uncore_imc_[0-9]*");
	assert_true(machine_matches(&machine, &pattern));
	strcpy(pattern.with_pmu, "*imc");
	assert_false(machine_matches(&machine, &pattern));
	tree_free(&tree);
}

CASE("A malformed list is not a list")
{
	static const char *const bad[] = { "", " 6", "six", "6,7", "4-0", "6-", "-6", "0x", "6x",
		"0x6a-", "6 - 7", "99999999999999999999" };

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(machine_is_list(bad[i]));
}
