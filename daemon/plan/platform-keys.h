/* SPDX-License-Identifier: BSD-3-Clause */
/* All keys of platform files, as tables: the values that each may have, and the field it sets. */
#pragma once

#include "daemon/base/inifile.h"
#include "daemon/machine/machine.h"
#include "daemon/plan/platform.h"

/* [platform]: what the machine is, and how it is recognised. */
struct inifile_group platform_keys_platform(struct platform *platform);
struct inifile_group platform_keys_pattern(struct machine_pattern *pattern);

/* [METRIC]: its first term, and the rest. */
struct inifile_group platform_keys_term(struct platform_term *term);
struct inifile_group platform_keys_metric(struct platform_metric *metric);

/* [METRIC/TERM]: in addition to platform_keys_term(). */
struct inifile_group platform_keys_further(struct platform_term *term);
