/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines that stores fill piece by piece: a few buffers of a CPU, the last used first. A CPU gathers
 * non-temporal stores in such buffers, and learns there whether a line is written whole.
 */
#pragma once

#include <stdint.h>

enum { GATHER_BUFFERS = 10 }; /* as Intel's cores have had for long: Optimization Manual, LFB */

struct gather_line {
	uint64_t number; /* GATHER_NONE: the buffer is free */
	uint64_t bytes;  /* a bit for each that was written */
	unsigned kind;   /* the caller's */
};

#define GATHER_NONE  UINT64_MAX
#define GATHER_WHOLE UINT64_MAX

struct gather {
	struct gather_line lines[GATHER_BUFFERS];
};

void gather_init(struct gather *gather);

/* Its place is kept until the next call that adds or removes. NULL: it is not there. */
struct gather_line *gather_find(struct gather *gather, uint64_t number);

/* Begins a line, of which nothing is written yet. Returns the one that had to go. */
struct gather_line gather_add(struct gather *gather, uint64_t number, unsigned kind);

/* Returns what it was. */
struct gather_line gather_remove(struct gather *gather, struct gather_line *line);

/* The bits of bytes [@offset, @offset + @size) of a line. */
static inline uint64_t gather_bytes(unsigned offset, unsigned size)
{
	return (size < 64 ? (UINT64_C(1) << size) - 1 : GATHER_WHOLE) << offset;
}
