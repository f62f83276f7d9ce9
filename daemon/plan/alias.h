/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's aliases of events: events/NAME of a PMU in sysfs, with NAME.scale and NAME.unit. */
#pragma once

#include <stdint.h>

#include "daemon/plan/format.h"

/*
 * Encodes the alias @name. Its .scale and .unit, where present, must agree with @bytes per count
 * (0: not checked, as for a clock). -ENOENT: there is no such alias; -EDOM: the kernel states
 * another scale, or a scale that is no number; errors of format_encode(), text_file_read().
 */
int alias_encode(const struct pmu *pmu, const char *name, uint32_t bytes, struct encoding *encoding,
	struct fault *fault);
