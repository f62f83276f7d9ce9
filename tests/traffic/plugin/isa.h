/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the plugin must know of an instruction set: one file for each, which isa.c lists. Loads and
 * stores themselves QEMU tells of every instruction set alike.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/traffic/plugin/controller.h"

enum { ISA_TARGETS_MAX = 2, ISA_CLEARS_BITS = 11 };

struct isa_instruction {
	enum access store; /* what its stores are */
	bool fences;       /* it waits for non-temporal stores before it */
	/* Not 0: it clears a block of memory, and QEMU does not tell of that (clears.h). What
	 * struct isa.cleared must know of it, in ISA_CLEARS_BITS. */
	unsigned clears;
};

struct isa {
	const char *targets[ISA_TARGETS_MAX]; /* as QEMU names them; NULL: no more */
	struct isa_instruction (*decode)(const uint8_t *bytes, size_t size);
	/* The address of the block that such an instruction has just cleared. NULL: no instruction
	 * does. */
	uint64_t (*cleared)(unsigned vcpu, unsigned clears);
	unsigned cleared_bytes; /* of the block, which is aligned to as many */
	/* Linux's numbers of calls that a program under qemu-user makes. */
	int64_t sched_setaffinity, mmap, munmap, execve, execveat;
};

extern const struct isa isa_power;
extern const struct isa isa_x86;

/* NULL: no file here knows it. */
const struct isa *isa_find(const char *target);
