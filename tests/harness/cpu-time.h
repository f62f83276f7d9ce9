/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* What Linux says of a thread (Documentation/scheduler/sched-stats.rst): how long it had a CPU, and
 * how long it waited for one. */
struct cpu_time {
	uint64_t ran_ns, waited_ns;
};

/* Zeros and -ESRCH: the thread has ended, or the kernel was built without these counts. */
int cpu_time(pid_t pid, pid_t tid, struct cpu_time *ret);
