/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes that all memory controllers together have moved so far: those of a simulator if
 * TRAFFIC_COUNTERS names its file (tests/traffic), else uncored's.
 */
#pragma once

#include "tests/traffic/counters.h"

enum moved_when { MOVED_BEFORE, MOVED_AFTER };

/* Two readings as they were taken: a program that is simulated must not move memory meanwhile. */
struct moved {
	struct traffic_counters simulated[2];
	/* Uncored's; a metric that the machine does not have is 0. */
	uint64_t bytes[2][TRAFFIC_KINDS];
};

/* Exits with a sentence if there is nothing to read. */
void moved_open(void);

/* Exits with a sentence if it cannot be read. */
void moved_read(struct moved *moved, enum moved_when when);

uint64_t moved_between(const struct moved *moved, enum traffic_kind kind);

/* Around what is counted: uncored's library reports it as a region of this name. */
void moved_begin(const char *name);
void moved_end(const char *name);
