/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process in a time namespace has its own CLOCK_MONOTONIC, ahead of the node's or behind it. A
 * process that was restored from a checkpoint is in such a namespace. The library uses the node's
 * clock, because it compares times with those of uncored and of processes outside.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/macro.h"

/* The kernel shows the offsets of the namespace for future children. Before Linux 6.0 that one
 * differs from the process's own after unshare(2) and execve(2). */
static bool time_namespace_is_ours(void)
{
	struct stat own, of_children;

	return stat("/proc/self/ns/time", &own) == 0 &&
	       stat("/proc/self/ns/time_for_children", &of_children) == 0 &&
	       own.st_ino == of_children.st_ino;
}

__attribute__((constructor)) static void note_offset(void)
{
	_cleanup_close_ int fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	long long s, ns;

	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "monotonic %lld %lld", &s, &ns) == 2 && (s || ns) &&
		time_namespace_is_ours())
		clock_ahead_ns = (uint64_t)s * 1000000000U + (uint64_t)ns;
}
