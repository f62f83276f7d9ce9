/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counts as a program sees them that runs on a simulated memory controller. It reads the file
 * that TRAFFIC_COUNTERS names by read(2), since the kernel's own copying is not simulated.
 */
#pragma once

#include <stdbool.h>

#include "tests/traffic/counters.h"

/* False: TRAFFIC_COUNTERS is not set, so there is nothing to read. Ends the program if it names a
 * file that cannot be read. */
bool counts_open(void);

/* Leaves @ret alone if there is nothing to read. */
void counts_read(struct traffic_counters *ret);

/* What a node's channels moved between two readings. TRAFFIC_NODES: of all nodes. */
uint64_t counts_bytes(
	const struct traffic_counters readings[2], unsigned node, enum traffic_kind kind);

/* "read": 64, "write": 0, ... */
void counts_print(const struct traffic_counters readings[2], unsigned node);
