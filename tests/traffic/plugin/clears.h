/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions that clear a block of memory: POWER's dcbz. QEMU 7.2 does that by memset(), of which
 * it tells no plugin (target/ppc/mem_helper.c, dcbz_common()). So the block is found from the
 * registers. The plugin interface has none to offer; they are taken from where QEMU's own debugger
 * stub takes them, by functions that Debian's QEMU exports.
 *
 * Registers are right there after the instruction, and not before it: QEMU's code keeps some in
 * registers of the computer, but writes all of them back before it calls a function that may look
 * at them, as that which clears does. So the block is counted when the next instruction begins. An
 * instruction that faults has no next one, and is counted when it is tried again.
 */
#pragma once

#include <stdbool.h>

#include "tests/traffic/plugin/isa.h"
#include "tests/traffic/plugin/qemu-plugin.h"

/* False: this QEMU does not export what is needed. */
bool clears_init(const struct isa *isa, bool is_system);

/* To be called for each instruction that is translated. @clears: as in struct isa_instruction.
 * @may_follow: the instruction before it cleared a block, or is not known. */
void clears_watch(struct qemu_plugin_insn *insn, unsigned clears, bool may_follow);
