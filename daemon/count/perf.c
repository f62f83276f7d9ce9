/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/count/perf.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int perf_open(
	const struct perf *self, const struct perf_event_attr *attr, int cpu, int group_fd)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, cpu, group_fd, PERF_FLAG_FD_CLOEXEC);

	(void)self;
	return fd < 0 ? -errno : (int)fd;
}

static ssize_t perf_read(const struct perf *self, int fd, void *ret_buffer, size_t size_bytes)
{
	/* Not read() of libc: it is a cancellation point, and in a process with threads this costs
	 * two atomic operations per box. */
	ssize_t n = syscall(SYS_read, fd, ret_buffer, size_bytes);

	(void)self;
	return n < 0 ? -errno : n;
}

static void perf_enable(const struct perf *self, int leader_fd)
{
	(void)self;
	/* Clears the error state first: kernel/events/core.c, _perf_event_enable(). */
	ioctl(leader_fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

static uint64_t perf_id(const struct perf *self, int fd)
{
	uint64_t id = 0;

	(void)self;
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	return id;
}

static void perf_close(const struct perf *self, int fd)
{
	(void)self;
	close(fd);
}

const struct perf perf_calls = { perf_open, perf_read, perf_enable, perf_id, perf_close, NULL };
