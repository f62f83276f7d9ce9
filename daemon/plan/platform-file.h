/* SPDX-License-Identifier: BSD-3-Clause */
/* One platform file, read and checked: its metrics, and the machines that it is for. */
#pragma once

#include "daemon/base/fault.h"
#include "daemon/machine/machine.h"
#include "daemon/plan/platform.h"

/*
 * Reads @path as the platform @name. 0; -EINVAL: the fault says file, line and what is wrong;
 * -ENOMEM; errno of fopen(3). The caller owns *ret, for platform_free().
 */
int platform_file_load(const char *path, const char *name, struct platform **ret,
	struct machine_pattern *ret_pattern, struct fault *fault);
