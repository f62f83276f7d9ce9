/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/traffic/plugin/clears.h"

#include "tests/traffic/plugin/memory.h"
#include "tests/traffic/plugin/placement.h"
#include "tests/traffic/plugin/registers.h"

enum { PAGE_BYTES = 4096 /* QEMU's smallest, of which the guest's are made */ };

static struct {
	const struct isa *isa;
	bool is_system;
} clears;

/* Of the last instruction that cleared: the place of the next one, above isa_instruction.clears. */
static __thread uintptr_t last;

bool clears_init(const struct isa *isa, bool is_system)
{
	clears.isa = isa;
	clears.is_system = is_system;
	return !isa->cleared || registers_exist(is_system);
}

/* The upper bits are lost; those that are left tell neighbours apart. */
static uintptr_t place(uint64_t vaddr)
{
	return vaddr << ISA_CLEARS_BITS >> ISA_CLEARS_BITS;
}

static void count(unsigned vcpu, unsigned operands)
{
	uint64_t vaddr = clears.isa->cleared(vcpu, operands), address = vaddr;

	if (clears.is_system)
		address = registers_page(vcpu, vaddr) + vaddr % PAGE_BYTES;
	for (unsigned i = 0; i < clears.isa->cleared_bytes; i += TRAFFIC_LINE_BYTES)
		cpu_access(placement_cpu(vcpu), ACCESS_STRING, address + i, TRAFFIC_LINE_BYTES);
}

static void on_clear(unsigned vcpu, void *data)
{
	(void)vcpu;
	last = (uintptr_t)data;
}

static void on_next(unsigned vcpu, void *data)
{
	unsigned operands = last & ((1u << ISA_CLEARS_BITS) - 1);

	if (!last || last >> ISA_CLEARS_BITS != (uintptr_t)data)
		return;
	last = 0;
	if (memory_is_simulated())
		count(vcpu, operands);
}

void clears_watch(struct qemu_plugin_insn *insn, unsigned operands, bool may_follow)
{
	uint64_t vaddr = qemu_plugin_insn_vaddr(insn);
	uintptr_t next = place(vaddr + qemu_plugin_insn_size(insn));

	if (clears.isa->cleared && may_follow)
		qemu_plugin_register_vcpu_insn_exec_cb(
			insn, on_next, QEMU_PLUGIN_CB_NO_REGS, (void *)place(vaddr));
	if (operands)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_clear, QEMU_PLUGIN_CB_NO_REGS,
			(void *)(next << ISA_CLEARS_BITS | operands));
}
