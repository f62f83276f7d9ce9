/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What loads and stores make of memory: CPUs with a first level of cache each, sockets with a last
 * level that their CPUs share. Both write back, allocate on writes, and throw out what was not used
 * for longest; the last level need not have what a first level has.
 *
 * - A store that misses reads its line first. With speci2m=P, stores in a stream claim their lines
 *   instead. P percent of those lines that are then written whole are counted as claimed, the
 *   others as read: which of them a CPU would evade, nobody knows.
 * - A store of a repeated string instruction claims its line: written whole, it is counted as
 *   itom, else it is read after all.
 * - Non-temporal stores gather in buffers beside the caches. A whole line is one write; a part is a
 *   read and a write. What caches have of the line goes out first.
 * - With adjacent=1 a line that is fetched brings the other one of its pair of lines along.
 *
 * There is no time and no coherence: two CPUs that write one line both write it back.
 */
#pragma once

#include <stdint.h>

#include "tests/traffic/plugin/cache.h"
#include "tests/traffic/plugin/gather.h"
#include "tests/traffic/plugin/options.h"

enum access {
	ACCESS_LOAD,
	ACCESS_STORE,
	ACCESS_STRING, /* a store of a repeated string instruction */
	ACCESS_PAST,   /* a non-temporal store */
};

enum { STREAMS = 8 };

struct socket;

/* Only the thread that runs this CPU touches it. */
struct cpu {
	struct cache l1;
	struct gather past;        /* non-temporal stores */
	struct gather claims;      /* lines of the first level that were not read yet */
	uint64_t streams[STREAMS]; /* the lines after those whose stores missed lately */
	unsigned next_stream;
	unsigned owed_percent; /* of a line that speci2m evades */
	struct socket *socket;
	unsigned node; /* of memory, the nearest */
};

/* Returns -ENOMEM if there is no memory. */
int controller_init(const struct options *options);

/* NULL: there is no memory. */
struct cpu *cpu_new(void);

/* Puts a CPU on a socket, of which there are options.n_sockets. */
void cpu_place(struct cpu *cpu, unsigned socket);

/* One access to @size bytes of one line. @address is physical, or that of a program's own. */
void cpu_access(struct cpu *cpu, enum access access, uint64_t address, unsigned size);

/* Empties the buffers of non-temporal stores. */
void cpu_fence(struct cpu *cpu);
