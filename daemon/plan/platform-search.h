/* SPDX-License-Identifier: BSD-3-Clause */
/* Which platform file is for this machine. */
#pragma once

#include "daemon/plan/platform.h"

/*
 * Finds the platform file named @name. If @name is NULL or "", finds the file that matches the
 * machine below @root_fd: its proc/cpuinfo, its PMUs and its NUMA nodes without CPUs. @directories
 * is NULL-terminated. A file in an earlier directory overrides files of the same name in later
 * ones. The caller owns *@ret, for free(3). -ENODEV: nothing matches, or the file says why
 * nothing can be counted on this machine; -EINVAL: no file of that name, or a file is wrong (every
 * file that is not overridden is read and must be valid); -EEXIST: two files match. The fault says
 * which, with file and line.
 */
int platform_find(const char *const directories[], int root_fd, const char *name,
	struct platform **ret, struct fault *fault);

/*
 * Calls @visit for every platform of @directories, as platform_find() would read them. 0, -EINVAL
 * as above, or a negative result of @visit, which ends the visit.
 */
int platform_visit(const char *const directories[],
	int (*visit)(const struct platform *platform, void *userdata), void *userdata,
	struct fault *fault);
