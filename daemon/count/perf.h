/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The perf system calls that a box needs, as a table, so that a unit test can play a kernel that
 * fails, multiplexes or counts backwards. The daemon uses perf_calls and nothing else.
 */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf {
	/* A descriptor, or negative errno. */
	int (*open)(
		const struct perf *self, const struct perf_event_attr *attr, int cpu, int group_fd);
	/* Bytes read (0: a pinned group that the kernel took off the PMU), or negative errno. */
	ssize_t (*read)(const struct perf *self, int fd, void *ret_buffer, size_t size_bytes);
	/* Enables a group in error state again, if its PMU has room. Needs no privilege. */
	void (*enable)(const struct perf *self, int leader_fd);
	/* The kernel's ID of an event, unique while the event exists. */
	uint64_t (*id)(const struct perf *self, int fd);
	void (*close)(const struct perf *self, int fd);
	void *context;
};

extern const struct perf perf_calls;
