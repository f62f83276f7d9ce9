/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The facts of a machine, and patterns to recognise it by: the identifying lines of proc/cpuinfo
 * (of the first processor), its NUMA nodes without CPUs, and the names of its PMUs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/fault.h"
#include "daemon/machine/topology.h"

enum machine_fact {
	MACHINE_VENDOR,
	MACHINE_FAMILY,
	MACHINE_MODEL,
	MACHINE_STEPPING,
	MACHINE_CPU,
	MACHINE_IMPLEMENTER,
	MACHINE_PART,
	MACHINE_CPULESS_GIB, /* memory of all NUMA nodes without CPUs; "": there is no such node */
	MACHINE_N_FACTS
};

enum { MACHINE_TEXT_MAX = 96 };

struct machine {
	char facts[MACHINE_N_FACTS][MACHINE_TEXT_MAX]; /* "": proc/cpuinfo has no such line */
	bool is_guest;                                 /* proc/cpuinfo has the flag "hypervisor" */
	int root_fd;                                   /* borrowed: where its PMUs are looked up */
};

struct machine_pattern {
	char facts[MACHINE_N_FACTS][MACHINE_TEXT_MAX]; /* "": any */
	bool asks_cpuless_node, cpuless_node;
	char with_pmu[MACHINE_TEXT_MAX], without_pmu[MACHINE_TEXT_MAX]; /* globs; "": any */
};

/*
 * Reads the machine below @root_fd, which must stay open as long as *@ret is used. 0, or the errno
 * of opening or reading proc/cpuinfo.
 */
int machine_read(int root_fd, struct machine *ret, struct fault *fault);

/* Does proc/cpuinfo have the flag "hypervisor"? False, too, if it cannot be read. */
bool machine_is_guest(int root_fd);

/* Has a socket several NUMA nodes with CPUs, as in modes like SNC and NPS? False, too, if that
 * cannot be read. */
bool machine_is_divided(int root_fd, const struct topology *topology);

/* Does @machine agree with everything that @pattern gives? */
bool machine_matches(const struct machine *machine, const struct machine_pattern *pattern);

/* Is @list made of numbers and ranges: "6", "0x6a 0x6c", "0-4"? */
bool machine_is_list(const char *list);

/* "vendor GenuineIntel, family 6, model 106, stepping 6"; cut to fit. */
void machine_describe(const struct machine *machine, char *ret_text, size_t size_bytes);
