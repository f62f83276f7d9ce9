/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/kernel-count.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness/test.h"

int kernel_open(unsigned socket)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, socket, -1, 0);

	assert_true(fd >= 0);
	return fd;
}

uint64_t kernel_bytes(int fd)
{
	uint64_t count;

	if (read(fd, &count, sizeof count) != sizeof count)
		abort();
	return count * KERNEL_PAGE_WORTH;
}

bool kernel_permits(
	uint64_t bytes, const struct kernel_bounds *begin, const struct kernel_bounds *end)
{
	uint64_t least = end->before - begin->after, most = end->after - begin->before;

	if (bytes >= least && bytes <= most)
		return true;
	printf("# %" PRIu64 " bytes, and not %" PRIu64 " to %" PRIu64 "\n", bytes, least, most);
	fflush(stdout);
	return false;
}
