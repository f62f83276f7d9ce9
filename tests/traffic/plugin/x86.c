/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions of x86-64 whose stores need no read of their line, and those that wait for them.
 * Opcodes: Intel SDM volume 2, appendix A.
 *
 * Not seen, since QEMU 7.2 does nothing for them that a plugin hears of: prefetches, and clflush,
 * clflushopt and clwb. Not known, since QEMU 7.2 has no such instructions: AVX-512, movdiri,
 * movdir64b and clzero.
 */
#include "tests/traffic/plugin/isa.h"

enum { MAP_0F = 0x0f00, MAP_OTHER = 0x10000 };

/* What is before the operands. */
struct opcode {
	unsigned code; /* with its map above the lowest byte */
	uint8_t modrm;
	bool repeats, locks;
};

struct bytes {
	const uint8_t *at;
	size_t size;
};

/* The byte, or 0 past the end. */
static uint8_t byte(const struct bytes *bytes, size_t i)
{
	return i < bytes->size ? bytes->at[i] : 0;
}

/* Legacy prefixes, in any order. Returns the place behind them. */
static size_t skip_prefixes(const struct bytes *bytes, struct opcode *opcode)
{
	for (size_t i = 0;; i++)
		switch (byte(bytes, i)) {
		case 0xf2:
		case 0xf3:
			opcode->repeats = true;
			break;
		case 0xf0:
			opcode->locks = true;
			break;
		case 0x26: /* segments */
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0x66: /* sizes of operands and addresses */
		case 0x67:
			break;
		default:
			return i;
		}
}

static struct opcode read_opcode(const struct bytes *bytes)
{
	struct opcode opcode = {};
	size_t i = skip_prefixes(bytes, &opcode);
	unsigned map = 0;

	if ((byte(bytes, i) & 0xf0) == 0x40) /* REX */
		i++;
	if (byte(bytes, i) == 0xc5) { /* VEX of two bytes */
		map = MAP_0F;
		i += 2;
	} else if (byte(bytes, i) == 0xc4) { /* of three, with the map */
		map = (byte(bytes, i + 1) & 31) == 1 ? MAP_0F : MAP_OTHER;
		i += 3;
	} else if (byte(bytes, i) == 0x0f) {
		map = MAP_0F;
		i++;
	}
	opcode.code = map | byte(bytes, i);
	opcode.modrm = byte(bytes, i + 1);
	return opcode;
}

/* Group 15 with a register: 6 is mfence, 7 is sfence. */
static bool is_fence(const struct opcode *opcode)
{
	return opcode->code == (MAP_0F | 0xae) && opcode->modrm >= 0xf0;
}

static struct isa_instruction decode(const uint8_t *data, size_t size)
{
	struct opcode opcode = read_opcode(&(struct bytes){ data, size });
	struct isa_instruction ret = {
		.store = ACCESS_STORE,
		.fences = opcode.locks || is_fence(&opcode),
	};

	switch (opcode.code) {
	case MAP_0F | 0x2b: /* movntps, movntpd */
	case MAP_0F | 0xc3: /* movnti */
	case MAP_0F | 0xe7: /* movntq, movntdq */
	case MAP_0F | 0xf7: /* maskmovq, maskmovdqu */
		ret.store = ACCESS_PAST;
		break;
	case 0xa4: /* movs */
	case 0xa5:
	case 0xaa: /* stos */
	case 0xab:
		ret.store = opcode.repeats ? ACCESS_STRING : ACCESS_STORE;
		break;
	}
	return ret;
}

const struct isa isa_x86 = {
	.targets = { "x86_64" },
	.decode = decode,
	.sched_setaffinity = 203,
	.execve = 59,
	.execveat = 322,
	.mmap = 9,
	.munmap = 11,
};
