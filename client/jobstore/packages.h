/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packages that a job can use (the kernel's word for CPU packages, which uncored calls
 * sockets). If the CPUs of a job are not known, it may use all.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PACKAGES_MAX = 32 }; /* no machine that uncored serves has more sockets */

struct packages {
	uint32_t n; /* 0: all */
	uint32_t ids[PACKAGES_MAX];
};

/*
 * Finds the packages of the CPUs in @list: "0-3,8" in the kernel's numbers, or "self" for the CPUs
 * on which the caller may run. If the package of any CPU is not known, all. -EINVAL: it is not a
 * list.
 */
int packages_parse(const char *list, struct packages *ret);

bool packages_have(const struct packages *packages, uint32_t id);
