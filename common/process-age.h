/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { PROCESS_NAME_MAX = 64 }; /* bytes of the kernel's name of a process, with its NUL */

/*
 * The name of process @pid, 0: this one, as plain text, and how long ago the kernel made it, in ns,
 * to a tick, mostly a hundredth of a second. False: there is none such, or none that is visible
 * from here. @pid is of the namespace of /proc.
 */
bool process_age(uint64_t pid, char ret_name[PROCESS_NAME_MAX], uint64_t *ret_age_ns);
