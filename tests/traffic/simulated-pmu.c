/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into uncored, this library is the kernel of the simulated machine
 * (tests/machines/simulated.machine): it answers the perf calls of uncored for PMUs of that machine
 * from the counts of a simulated memory controller (counters.h). TRAFFIC_COUNTERS names their file.
 * All other calls go to the real kernel.
 *
 * uncored opens and reads counters by syscall(2) and ioctl(2): daemon/count/perf.c. It opens all of
 * them in one thread, before others read them. A descriptor of an event is one of /dev/null.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/traffic/counters.h"

enum {
	PMU_TYPE =
		5000, /* and those after it, as in simulated.machine, like the number of sockets */
	SOCKETS = 2,
	FDS_MAX = 4096,
	GROUP_MAX = 16,
};

static const uint64_t READ_FORMAT =
	PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

struct event {
	const uint64_t *lines; /* in the counters; NULL: the descriptor is not an event */
	uint64_t opened_ns;
	unsigned n_members; /* of the group that it leads, itself included */
	int members[GROUP_MAX];
};

/* What read(2) returns in that format: perf_event_open(2). */
struct group_read {
	uint64_t n_values, enabled_ns, running_ns;
	uint64_t values[GROUP_MAX];
};

static struct event events[FDS_MAX];
static const struct traffic_counters *counters;
static long (*kernel_syscall)(long number, ...);
static int (*kernel_ioctl)(int fd, unsigned long request, ...);
static int (*kernel_close)(int fd);

_public_ long syscall(long number, ...);
_public_ int ioctl(int fd, unsigned long request, ...);
_public_ int close(int fd);

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct event *event_of(long fd)
{
	return fd >= 0 && fd < FDS_MAX && events[fd].lines ? &events[fd] : NULL;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

/* --- the calls --- */

static int open_event(const struct perf_event_attr *attr, int cpu, int group_fd)
{
	uint64_t kind = attr->config & 0xff, channel = attr->config >> 8;
	struct event *leader = event_of(group_fd);
	int fd;

	if (kind >= TRAFFIC_KINDS || channel >= TRAFFIC_CHANNELS ||
		attr->read_format != READ_FORMAT || cpu < 0)
		return fail(EINVAL);
	if (group_fd >= 0 && (!leader || leader->n_members == GROUP_MAX))
		return fail(EINVAL);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fd >= FDS_MAX) {
		close(fd);
		return fail(EMFILE);
	}
	events[fd] = (struct event){
		.lines = &counters->lines[cpu % SOCKETS][kind][channel],
		.opened_ns = now_ns(),
	};
	leader = leader ? leader : &events[fd];
	leader->members[leader->n_members++] = fd;
	return fd;
}

static ssize_t read_group(const struct event *leader, void *buffer, size_t size_bytes)
{
	size_t length = offsetof(struct group_read, values) + leader->n_members * sizeof(uint64_t);
	uint64_t age_ns = now_ns() - leader->opened_ns;
	struct group_read group = { leader->n_members, age_ns, age_ns, {} };

	if (size_bytes < length)
		return fail(ENOSPC);
	for (unsigned i = 0; i < leader->n_members; i++)
		group.values[i] =
			__atomic_load_n(events[leader->members[i]].lines, __ATOMIC_RELAXED);
	memcpy(buffer, &group, length);
	return (ssize_t)length;
}

static bool is_simulated(const struct perf_event_attr *attr)
{
	return attr->type >= PMU_TYPE;
}

/* The kernel takes six arguments of any call, and looks at those that the call has. */
long syscall(long number, ...)
{
	long a[6];
	const struct event *event;
	va_list arguments;

	va_start(arguments, number);
	for (size_t i = 0; i < ARRAY_SIZE(a); i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if (number == SYS_perf_event_open && is_simulated((const void *)a[0]))
		return open_event((const void *)a[0], (int)a[2], (int)a[3]);
	event = number == SYS_read ? event_of((int)a[0]) : NULL;
	if (event)
		return read_group(event, (void *)a[1], (size_t)a[2]);
	return kernel_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (!event_of(fd))
		return kernel_ioctl(fd, request, argument);
	if (request == PERF_EVENT_IOC_ID)
		*(uint64_t *)argument = (uint64_t)fd + 1;
	return 0;
}

/* The number may become that of something else. */
int close(int fd)
{
	if (event_of(fd))
		events[fd].lines = NULL;
	return kernel_close(fd);
}

/* --- beginning --- */

static _Noreturn void give_up(const char *path, const char *why)
{
	fprintf(stderr, "simulated-pmu: cannot show the counts in %s: %s.\n",
		path ? path : "the file that TRAFFIC_COUNTERS names", why);
	exit(EXIT_FAILURE);
}

static __attribute__((constructor)) void map_counters(void)
{
	const char *path = getenv("TRAFFIC_COUNTERS");
	struct stat status;
	void *map;
	int fd;

	kernel_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	kernel_ioctl = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
	kernel_close = (int (*)(int))dlsym(RTLD_NEXT, "close");
	fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0 || fstat(fd, &status) < 0)
		give_up(path, path ? strerror(errno) : "it is not set");
	if (status.st_size < (off_t)sizeof *counters)
		give_up(path, "it is too short: make it 64 KiB of zeros");
	map = mmap(NULL, sizeof *counters, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		give_up(path, strerror(errno));
	counters = map;
}
