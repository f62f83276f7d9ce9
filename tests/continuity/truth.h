/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that uncored publishes what the kernel counted, to the last count.
 *
 * The service manager of a test keeps the perf events of uncored, so the test reads the kernel's
 * own counts before a fresh read of uncored and after it. The published total must lie between the
 * two, less the kernel's count when the generation began. That count is the same for all reads of a
 * generation. Each read narrows down its range, and a count that is lost or added twice leaves the
 * range empty.
 */
#pragma once

#include <stdint.h>

#include "client/libuncore/uncore.h"
#include "tests/harness/daemon-process.h"

enum { TRUTH_SOCKETS_MAX = 2, TRUTH_COUNTERS = 2 /* page faults, clock */ };

struct truth {
	const struct daemon_process *daemon;
	uint64_t generation[2]; /* 0: none was seen yet */
	uint64_t last[TRUTH_SOCKETS_MAX][TRUTH_COUNTERS];
	struct truth_range {
		int64_t least, most;
	} before[TRUTH_SOCKETS_MAX]
		[TRUTH_COUNTERS]; /* the kernel's count when the generation began */
	unsigned n_checks;
};

/* Another generation begins. */
void truth_begin(struct truth *truth, const struct daemon_process *daemon);

/*
 * Connects and reads fresh. Fails the case if the generation is another, a value goes back, has a
 * flag other than standin, or is not what the kernel counted.
 */
void truth_check(struct truth *truth);

/* How many page faults could have been lost or added unseen: 0 once a read met a quiet moment. */
uint64_t truth_resolution(const struct truth *truth);
