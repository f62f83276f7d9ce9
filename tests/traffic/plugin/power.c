/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions of POWER, little-endian (Power ISA 3.0). No store of theirs is known to go past the
 * caches. dcbz clears a line of 128 bytes, and need not read it.
 *
 * QEMU 7.2 tells of loads and stores of 16 bytes (lxv, stxv and the like, lq, stq, lqarx) as two of
 * 8, and of lxvl and stxvl byte by byte. It tells of dcbf, dcbst and icbi as loads, and of dcbt,
 * dcbtst and stqcx. nothing. lmw and stmw do not exist in little-endian mode.
 */
#include "tests/traffic/plugin/isa.h"
#include "tests/traffic/plugin/registers.h"

enum {
	OPCODE_X = 31, /* of instructions with an opcode of 10 more bits */
	OPCODE_DCBZ = 1014,
	LINE_BYTES = 128,
	IS_DCBZ = 1 << 10, /* above two numbers of registers */
};

static uint32_t word_of(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static struct isa_instruction decode(const uint8_t *bytes, size_t size)
{
	uint32_t word = size == sizeof word ? word_of(bytes) : 0;
	struct isa_instruction ret = { .store = ACCESS_STORE };

	if (word >> 26 == OPCODE_X && (word >> 1 & 1023) == OPCODE_DCBZ) {
		ret.store = ACCESS_STRING;
		ret.clears = IS_DCBZ | (word >> 11 & 1023);
	}
	return ret;
}

/* The line of RA + RB, where register 0 as RA stands for nothing. */
static uint64_t cleared(unsigned vcpu, unsigned operands)
{
	unsigned a = operands >> 5 & 31, b = operands & 31;
	uint64_t base = a ? registers_power(vcpu, a) : 0;

	return (base + registers_power(vcpu, b)) & ~(uint64_t)(LINE_BYTES - 1);
}

const struct isa isa_power = {
	.targets = { "ppc64", "ppc64le" },
	.decode = decode,
	.cleared = cleared,
	.cleared_bytes = LINE_BYTES,
	.sched_setaffinity = 222,
	.execve = 11,
	.execveat = 362,
	.mmap = 90,
	.munmap = 91,
};
