/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory: which node a line lies in, and the counts of what its channels moved, in shared memory
 * (../counters.h).
 *
 * In a guest the node follows from the physical address. QEMU 7.2 does not tell plugins that
 * address, but the sum of three offsets: of a byte in its memory backend, of the backend among
 * QEMU's memories, and of the backend in the guest's memory (plugins/api.c,
 * qemu_plugin_hwaddr_phys_addr()). With a memory backend for each node, made in the order of the
 * nodes and before any large other memory, node N therefore begins at twice the size of the nodes
 * before it. A guest with one memory backend begins at 0, as it should. Where that one has all
 * nodes (joined=1), the sum is the guest's address.
 *
 * A program under qemu-user has no physical addresses. There a page lies in a node of the CPU that
 * touches it first, as Linux places it, until the program unmaps it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tests/traffic/counters.h"
#include "tests/traffic/plugin/options.h"

/* Says in a sentence on stderr what is wrong, and returns negative errno. */
int memory_open(const struct options *options, bool is_system);

struct traffic_counters *memory_counters(void);

/* False: nothing that programs do is to be counted. */
bool memory_is_simulated(void);

/* Counts a line. @near_node is where a page goes that nobody touched. */
void memory_count(enum traffic_kind kind, uint64_t line, unsigned near_node);

/* A program under qemu-user unmapped or mapped these bytes: nobody touched what is there now. */
void memory_forget(uint64_t address, uint64_t size);
