/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/cpu-time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/macro.h"

int cpu_time(pid_t pid, pid_t tid, struct cpu_time *ret)
{
	struct cpu_time found;
	_cleanup_file_ FILE *file = NULL;
	char path[64];

	*ret = (struct cpu_time){ .ran_ns = 0 };
	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, tid);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%" SCNu64 " %" SCNu64, &found.ran_ns, &found.waited_ns) != 2)
		return -ESRCH;
	*ret = found;
	return 0;
}
