/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which packages (the kernel's word for CPU packages, that uncored calls sockets) a job can use. A
 * job of which nobody knows its CPUs may use all.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PACKAGES_MAX = 32 }; /* more sockets has no machine that uncored serves */

struct packages {
	uint32_t n; /* 0: all */
	uint32_t ids[PACKAGES_MAX];
};

/*
 * Those of the CPUs of @list, "0-3,8" in the kernel's numbers, or, for "self", of the CPUs that the
 * caller may run on. They are all where the package of a CPU is not known. -EINVAL: it is no list.
 */
int packages_parse(const char *list, struct packages *ret);

bool packages_have(const struct packages *packages, uint32_t id);
