/* SPDX-License-Identifier: BSD-3-Clause */
/* NUMA nodes, as the kernel shows them below a root; "" is the running machine. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/macro.h"

#define NODE_FOLDER    "/sys/devices/system/node"
#define NODE_NOT_KNOWN UINT64_MAX

enum {
	NODE_NUMBERS = 1024, /* of the kernel, from 0 */
	NODE_LIST_MAX = 4096,
};

/* Opens the file below a root whose name @format makes; NULL: errno says why. */
_printf_(2, 3) FILE *node_open(const char *root, const char *format, ...);

/* The list "0-1,4" in the file @name of the folder, for example "online"; "": there is none. */
void node_list(const char *root, const char *name, char ret_list[NODE_LIST_MAX]);
bool node_is_in(const char *list, unsigned node);

/* The size after @label in the node's meminfo, for example "MemFree:"; NODE_NOT_KNOWN: none. */
uint64_t node_bytes(const char *root, unsigned node, const char *label);

/* -1: the node has no CPU, or there is no such node. */
int node_first_cpu(const char *root, unsigned node);
