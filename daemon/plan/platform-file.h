/* SPDX-License-Identifier: BSD-3-Clause */
/* One platform file, read and checked: its metrics, and the machines that it is for. */
#pragma once

#include "daemon/base/inifile.h"
#include "daemon/plan/platform.h"

/*
 * Reads @path as the platform @name. 0; -EINVAL: the fault says file, line and what is wrong;
 * -ENOMEM; errno of fopen(3). The caller owns *ret, for free(3).
 */
int platform_file_load(
	const char *path, const char *name, struct platform **ret, struct fault *fault);

/* --- the keys: the values that each may have, and the field it sets --- */

extern const struct inifile_table platform_keys_of_header; /* [platform]: of struct platform */
extern const struct inifile_table platform_keys_of_metric; /* [METRIC]: of struct platform_metric */
extern const struct inifile_table
	platform_keys_of_term; /* [METRIC/TERM]: of struct platform_term */
