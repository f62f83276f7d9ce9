/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-or-later */
/*
 * The counts of a simulated memory controller, as they lie in shared memory. The simulator adds to
 * them; the PMUs of a guest or of the stand-in machine show them. In the byte order of the computer
 * that simulates.
 *
 * Memory has nodes: a socket's, a part of a socket's (sub-NUMA clusters), or memory of another kind
 * (HBM). Each has channels of its own. A line is 64 bytes.
 */
#ifndef TRAFFIC_COUNTERS_H
#define TRAFFIC_COUNTERS_H

#include <stdint.h>

enum { TRAFFIC_NODES = 8, TRAFFIC_CHANNELS = 16, TRAFFIC_LINE_BYTES = 64 };

enum traffic_kind {
	TRAFFIC_READ,     /* lines fetched from memory */
	TRAFFIC_WRITE,    /* lines written to memory */
	TRAFFIC_ITOM,     /* lines that an instruction claimed whole, without reading them */
	TRAFFIC_SPECITOM, /* lines that the hardware claimed by itself, in a stream of stores */
	TRAFFIC_KINDS,
};

#define TRAFFIC_MAGIC UINT64_C(0x6d656d63746c3032)

struct traffic_counters {
	uint64_t magic;
	uint64_t wanted;  /* 1: simulate. Readers write it; the simulator looks when a CPU idles. */
	uint64_t running; /* what the simulator does */
	uint64_t reserved[5];
	uint64_t lines[TRAFFIC_NODES][TRAFFIC_KINDS][TRAFFIC_CHANNELS];
};

#endif
