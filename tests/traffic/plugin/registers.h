/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What QEMU's plugin interface does not give: registers of a CPU, and its page tables. These
 * functions of QEMU 7.2 are none of that interface, but Debian's programs export them, and QEMU's
 * debugger stub calls them.
 *
 * They are to be called by the thread that runs the CPU.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool registers_exist(bool is_system);

/* A general register of a POWER CPU that is in little-endian mode. */
uint64_t registers_power(unsigned vcpu, unsigned number);

/* The physical address of the page with this one, as the CPU translates it now. */
uint64_t registers_page(unsigned vcpu, uint64_t vaddr);
