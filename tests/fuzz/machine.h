/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine in memory: three sockets with 2, 1 and 3 boxes, each with two or three events, so that
 * no two of its tables have the same length. Its kernel replaces daemon/count/perf.c: events are
 * descriptors of /dev/null.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/plan/plan.h"

enum { MACHINE_SOCKETS = 3, MACHINE_BOXES = 6, MACHINE_CHANNELS = 12 };

/* Returns the same plan at each call. The machine owns its memory. */
const struct plan *machine_plan(void);

/* How the machine's kernel behaves. All zero: every event can be opened and counts. */
struct machine_kernel {
	int open_error;     /* every open fails so */
	int read_error;     /* every read fails so */
	bool reads_nothing; /* as of a pinned group that was taken off its PMU */
	bool group_fell_apart;
	bool stands; /* no event gains time */
};

/* Begins with a kernel that has no events and behaves as @kernel says. */
void machine_begin(const struct machine_kernel *kernel);

/* An open event of group @leader (-1: leads) with number @id. */
int machine_event(int leader, uint64_t id);
