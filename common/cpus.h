/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of CPUs as lists in the kernel's format, "0-3,8", and the package of a CPU. */
#pragma once

#include <sched.h>
#include <stddef.h>

enum { CPUS_TEXT_MAX = 64 }; /* bytes, with the final NUL */

/* A list that is too long ends in "...". */
void cpus_list(const cpu_set_t *cpus, size_t size_bytes, char ret_text[CPUS_TEXT_MAX]);

/* The kernel's physical_package_id of @cpu; -1: not known, for example because it is offline. */
int cpus_package(unsigned cpu);
