/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel that a test controls: counters that can be set, events that refuse to open. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "daemon/count/perf.h"
#include "daemon/plan/plan.h"

enum { FAKE_EVENTS_MAX = 64 };

struct fake_event {
	bool open, pinned;
	int group_fd; /* -1: leads */
	uint64_t config;
	uint64_t value;
};

struct fake_kernel {
	struct fake_event events[FAKE_EVENTS_MAX];
	int n_events;
	uint64_t enabled_ns, running_ns;
	int open_error;     /* every open fails so */
	int sibling_error;  /* opening into a group fails so */
	int read_error;     /* every read fails so */
	bool pinned_fails;  /* a pinned group is in error state: read returns 0 */
	bool group_shrinks; /* the group fell apart: nr == 1 */
	int n_enabled;      /* leaders that were told to go on */
};

static int fake_open(
	const struct perf *self, const struct perf_event_attr *attr, int cpu, int group_fd)
{
	struct fake_kernel *kernel = self->context;

	(void)cpu;
	if (kernel->open_error)
		return kernel->open_error;
	if (group_fd >= 0 && kernel->sibling_error)
		return kernel->sibling_error;
	if (kernel->n_events == FAKE_EVENTS_MAX)
		return -EMFILE;
	kernel->events[kernel->n_events] = (struct fake_event){
		.open = true,
		.pinned = attr->pinned,
		.group_fd = group_fd,
		.config = attr->config,
	};
	return kernel->n_events++;
}

static ssize_t fake_read(const struct perf *self, int fd, void *ret_buffer, size_t size_bytes)
{
	struct fake_kernel *kernel = self->context;
	uint64_t words[3 + FAKE_EVENTS_MAX] = { 0, kernel->enabled_ns, kernel->running_ns };

	if (kernel->read_error)
		return kernel->read_error;
	if (kernel->pinned_fails && kernel->events[fd].pinned)
		return 0;
	for (int i = fd; i < kernel->n_events; i++)
		if (kernel->events[i].open && (i == fd || kernel->events[i].group_fd == fd))
			words[3 + words[0]++] = kernel->events[i].value;
	if (kernel->group_shrinks)
		words[0] = 1;
	if ((3 + words[0]) * sizeof *words > size_bytes)
		return -ENOSPC;
	memcpy(ret_buffer, words, (3 + words[0]) * sizeof *words);
	return (ssize_t)((3 + words[0]) * sizeof *words);
}

static void fake_enable(const struct perf *self, int leader_fd)
{
	struct fake_kernel *kernel = self->context;

	kernel->n_enabled += kernel->events[leader_fd].open;
}

static uint64_t fake_id(const struct perf *self, int fd)
{
	(void)self;
	return (uint64_t)fd + 1000;
}

static void fake_close(const struct perf *self, int fd)
{
	struct fake_kernel *kernel = self->context;

	kernel->events[fd].open = false;
}

static inline struct perf fake_perf(struct fake_kernel *kernel)
{
	return (struct perf){ fake_open, fake_read, fake_enable, fake_id, fake_close, kernel };
}

static inline int fake_open_events(const struct fake_kernel *kernel)
{
	int n = 0;

	for (int i = 0; i < kernel->n_events; i++)
		n += kernel->events[i].open;
	return n;
}

/* The last opened event of this config. */
static inline struct fake_event *fake_find(struct fake_kernel *kernel, uint64_t config)
{
	for (int i = kernel->n_events - 1; i >= 0; i--)
		if (kernel->events[i].open && kernel->events[i].config == config)
			return &kernel->events[i];
	return NULL;
}

/* One nanosecond-exact second on and off the PMU. */
static inline void fake_pass(struct fake_kernel *kernel, uint64_t enabled_ns, uint64_t running_ns)
{
	kernel->enabled_ns += enabled_ns;
	kernel->running_ns += running_ns;
}
