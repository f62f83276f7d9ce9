/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobstore/lock.h"

#include <errno.h>
#include <sys/file.h>
#include <time.h>

#include "common/clock.h"

/* Interval between two attempts: flock(2) itself has no time limit. */
static const struct timespec LOOK_AGAIN = { .tv_nsec = 2000000 };

int lock_until(int fd, uint64_t deadline_ns)
{
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (clock_now_ns() > deadline_ns)
			return -ETIMEDOUT;
		nanosleep(&LOOK_AGAIN, NULL);
	}
	return 0;
}
