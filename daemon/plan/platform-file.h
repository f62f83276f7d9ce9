/* SPDX-License-Identifier: BSD-3-Clause */
/* One platform file, read and checked: its metrics, and the machines that it is for. */
#pragma once

#include "daemon/base/inifile.h"
#include "daemon/machine/machine.h"
#include "daemon/plan/platform.h"

/*
 * Reads @path as the platform @name. 0; -EINVAL: the fault says file, line and what is wrong;
 * -ENOMEM; errno of fopen(3). The caller owns *ret, for free(3).
 */
int platform_file_load(const char *path, const char *name, struct platform **ret,
	struct machine_pattern *ret_pattern, struct fault *fault);

/* --- all keys, as tables: the values that each may have, and the field it sets --- */

/* [platform]: what the machine is, and how it is recognised. */
struct inifile_group platform_keys_platform(struct platform *platform);
struct inifile_group platform_keys_pattern(struct machine_pattern *pattern);

/* [METRIC]: its first term, and the rest. */
struct inifile_group platform_keys_term(struct platform_term *term);
struct inifile_group platform_keys_metric(struct platform_metric *metric);

/* [METRIC/TERM]: in addition to platform_keys_term(). */
struct inifile_group platform_keys_further(struct platform_term *term);
