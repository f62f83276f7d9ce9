/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

enum { COMMAND_MAX = 64 }; /* bytes of the kernel's name of a process, with its NUL */

/*
 * The name of the process that connected under the number @pid so long ago (0: the number is not
 * known), as plain text. If that process has ended, or cannot be seen from here, words in brackets
 * say so: another process may have its number by now.
 */
void client_process_name(uint64_t pid, uint64_t connected_ns, char ret[COMMAND_MAX]);
