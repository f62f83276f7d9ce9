/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's own counts on the stand-in machine. Other processes touch pages, too, so a reading
 * of uncored is right if it lies between the kernel's counts before and after the reading. That is
 * exact to the last count, however busy the machine is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { KERNEL_SOCKETS_MAX = 2, KERNEL_PAGE_WORTH = 4096 };

/*
 * A perf event of the page faults of @socket, since now. Needs privilege, but a process that has
 * the descriptor can read it. Fails the case if there is none.
 */
int kernel_open(unsigned socket);

/* In bytes of dram.read. Ends the process if that fails, so that a child may call it, too. */
uint64_t kernel_bytes(int fd);

/* The kernel's count at both ends of a reading. */
struct kernel_bounds {
	uint64_t before, after;
};

/* Can @bytes have been counted from the reading @begin to the reading @end? */
bool kernel_permits(
	uint64_t bytes, const struct kernel_bounds *begin, const struct kernel_bounds *end);
