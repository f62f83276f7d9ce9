/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's aliases of events: events/NAME of a PMU in sysfs, with NAME.scale and NAME.unit. */
#pragma once

#include "daemon/plan/format.h"
#include "daemon/plan/scale.h"

/*
 * Encodes the alias @name. Its .scale and .unit, where present, must agree with @worth of a count
 * (NULL: not checked, as for a clock). -ENOENT: there is no such alias; -EDOM: the kernel states
 * another scale, or a scale that is not a number; errors of format_encode(), text_file_read().
 */
int alias_encode(const struct pmu *pmu, const char *name, const struct worth *worth,
	struct encoding *encoding, struct fault *fault);
