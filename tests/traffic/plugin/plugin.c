/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plugin of QEMU's code generator (TCG) that takes every load and store of a guest, or of one
 * program, through a model of its caches (controller.h), and counts the lines that these fetch from
 * memory and write to it (memory.h). ../README.md says how to use it and what it does not see.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/traffic/plugin/clears.h"
#include "tests/traffic/plugin/isa.h"
#include "tests/traffic/plugin/memory.h"
#include "tests/traffic/plugin/placement.h"
#include "tests/traffic/plugin/qemu-plugin.h"

PLUGIN_EXPORT int qemu_plugin_version = 1;
PLUGIN_EXPORT int qemu_plugin_install(
	qemu_plugin_id_t id, const qemu_info_t *info, int argc, char *argv[]);

enum { REFUSED_STATUS = 126 };

static struct {
	struct options options;
	const struct isa *isa;
	bool is_system;
	pid_t pid;         /* of the program; those that it forks have others */
	bool is_watching;  /* callbacks are in the code that QEMU translates */
	bool is_resetting; /* QEMU was asked to forget what it translated, and did not answer yet */
} plugin;

/* --- loads and stores --- */

/* False: it is not memory, but a device. */
static bool address_of(qemu_plugin_meminfo_t info, uint64_t vaddr, uint64_t *ret)
{
	struct qemu_plugin_hwaddr *address;

	*ret = vaddr;
	if (!plugin.is_system)
		return true;
	address = qemu_plugin_get_hwaddr(info, vaddr);
	if (!address || qemu_plugin_hwaddr_is_io(address))
		return false;
	*ret = qemu_plugin_hwaddr_phys_addr(address);
	return true;
}

/* @data is the enum access of stores. What lies across two lines may lie on two pages, which need
 * not be neighbours in memory. */
static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	bool is_store = qemu_plugin_mem_is_store(info);
	enum access access = is_store ? (enum access)(uintptr_t)data : ACCESS_LOAD;
	unsigned size = 1u << qemu_plugin_mem_size_shift(info);
	unsigned in_line = TRAFFIC_LINE_BYTES - vaddr % TRAFFIC_LINE_BYTES;
	struct cpu *cpu = placement_cpu(vcpu);
	uint64_t address;

	if (!memory_is_simulated())
		return;
	if (size > in_line) {
		if (address_of(info, vaddr + in_line, &address))
			cpu_access(cpu, access, address, size - in_line);
		size = in_line;
	}
	if (address_of(info, vaddr, &address))
		cpu_access(cpu, access, address, size);
}

static void on_fence(unsigned vcpu, void *data)
{
	(void)data;
	if (memory_is_simulated())
		cpu_fence(placement_cpu(vcpu));
}

/* Kernels have the upper half of the addresses. */
static bool is_kernel(const struct qemu_plugin_insn *insn)
{
	return qemu_plugin_insn_vaddr(insn) >> 63;
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct isa_instruction what = {};

	(void)id;
	for (size_t i = 0, n = qemu_plugin_tb_n_insns(tb); i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		bool may_follow = i == 0 || what.clears;

		if (plugin.options.user_only && is_kernel(insn))
			continue;
		what = plugin.isa->decode(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
		clears_watch(insn, what.clears, may_follow);
		if (what.fences)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, on_fence, QEMU_PLUGIN_CB_NO_REGS, NULL);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
			QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)what.store);
	}
}

/* --- CPUs and threads --- */

static void on_vcpu(qemu_plugin_id_t id, unsigned vcpu)
{
	(void)id;
	if (placement_add(vcpu) < 0)
		exit(EXIT_FAILURE);
}

/*
 * QEMU lets the processor itself run the other program, and nothing of it is counted. That is an
 * error where it takes the place of the program, as with env; programs such as those of Open MPI
 * start others beside them.
 */
static void note_program(void)
{
	const bool is_instead = getpid() == plugin.pid;

	fprintf(stderr, "What a program runs by execve is not simulated.%s\n",
		is_instead ? " Name that program itself, without env, sh and the like." : "");
	if (is_instead)
		_exit(REFUSED_STATUS);
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
	uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	(void)id, (void)vcpu, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
	if (number == plugin.isa->execve || number == plugin.isa->execveat)
		note_program();
	if (number == plugin.isa->munmap || (number == plugin.isa->mmap && a1))
		memory_forget(a1, a2);
}

static void on_syscall_result(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
	(void)id, (void)vcpu;
	if (number == plugin.isa->sched_setaffinity && result >= 0)
		placement_changed();
}

/* --- beginning and ending, as readers want --- */

static void begin(qemu_plugin_id_t id);

/*
 * The first time QEMU forgets what it translated without callbacks, and calls begin(). It must not
 * forget code that has some: QEMU 7.2 frees its list of an instruction's callbacks while a CPU that
 * left the instruction by a fault may still go by it. So a simulation that ends keeps the
 * callbacks, and they do nothing.
 */
static void on_idle(qemu_plugin_id_t id, unsigned vcpu)
{
	struct traffic_counters *counters = memory_counters();
	uint64_t wanted = __atomic_load_n(&counters->wanted, __ATOMIC_RELAXED);

	(void)vcpu;
	if (wanted == memory_is_simulated())
		return;
	if (plugin.is_watching)
		__atomic_store_n(&counters->running, wanted, __ATOMIC_RELAXED);
	else if (!__atomic_exchange_n(&plugin.is_resetting, true, __ATOMIC_ACQ_REL))
		qemu_plugin_reset(id, begin);
}

static void begin(qemu_plugin_id_t id)
{
	struct traffic_counters *counters = memory_counters();

	counters->running = __atomic_load_n(&counters->wanted, __ATOMIC_RELAXED);
	plugin.is_watching = counters->running;
	__atomic_store_n(&plugin.is_resetting, false, __ATOMIC_RELEASE);
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
	if (plugin.is_watching)
		qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	if (plugin.is_system) {
		qemu_plugin_register_vcpu_idle_cb(id, on_idle);
	} else {
		qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
		qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_result);
	}
}

static int prepare(const qemu_info_t *info, int argc, char *argv[])
{
	plugin.is_system = info->system_emulation;
	plugin.pid = getpid();
	plugin.isa = isa_find(info->target_name);
	if (!plugin.isa) {
		fprintf(stderr, "memory-controller: instructions of %s are not known here.\n",
			info->target_name);
		return -EINVAL;
	}
	if (!clears_init(plugin.isa, plugin.is_system)) {
		fprintf(stderr,
			"memory-controller: this QEMU does not export what must be known of "
			"instructions of %s.\n",
			info->target_name);
		return -ENOTSUP;
	}
	if (options_parse(argc, argv, plugin.is_system, &plugin.options) < 0 ||
		memory_open(&plugin.options, plugin.is_system) < 0)
		return -EINVAL;
	if (controller_init(&plugin.options) < 0) {
		fprintf(stderr, "memory-controller: there is no memory for the caches.\n");
		return -ENOMEM;
	}
	placement_init(&plugin.options, plugin.is_system);
	return 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char *argv[])
{
	if (prepare(info, argc, argv) < 0)
		return -1;
	begin(id);
	return 0;
}
