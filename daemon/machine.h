/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a machine says of itself, and patterns to recognise it by: the identifying lines of
 * proc/cpuinfo (of the first processor), and whether some memory belongs to no CPU.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/fault.h"

enum machine_fact {
	MACHINE_VENDOR,
	MACHINE_FAMILY,
	MACHINE_MODEL,
	MACHINE_STEPPING,
	MACHINE_CPU,
	MACHINE_IMPLEMENTER,
	MACHINE_PART,
	MACHINE_N_FACTS
};

enum { MACHINE_TEXT_MAX = 96 };

struct machine {
	char facts[MACHINE_N_FACTS][MACHINE_TEXT_MAX]; /* "": proc/cpuinfo has no such line */
	bool is_guest;                                 /* the CPU says that a hypervisor is below */
	bool memory_only_node;                         /* a NUMA node has memory but no CPU */
};

struct machine_pattern {
	char facts[MACHINE_N_FACTS][MACHINE_TEXT_MAX]; /* "": any */
	bool asks_memory_only_node, memory_only_node;
};

/* Reads the machine below @root_fd. 0, or the errno of opening or reading proc/cpuinfo. */
int machine_read(int root_fd, struct machine *ret, struct fault *fault);

/* Does the CPU say that a hypervisor is below? False also if that cannot be read. */
bool machine_is_guest(int root_fd);

/* Does every fact that the pattern gives agree? */
bool machine_matches(const struct machine *machine, const struct machine_pattern *pattern);

/* Is @list made of numbers and ranges: "6", "0x6a 0x6c", "0-4"? */
bool machine_is_list(const char *list);

/* "vendor GenuineIntel, family 6, model 106, stepping 6"; cut to fit. */
void machine_describe(const struct machine *machine, char *ret_text, size_t size_bytes);
