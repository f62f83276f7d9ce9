/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the plan of a machine. */
#pragma once

#include "daemon/base/fault.h"
#include "daemon/machine/topology.h"
#include "daemon/plan/plan.h"
#include "daemon/plan/platform.h"

/*
 * Matches @platform with the machine below @root_fd. A metric is absent on a socket if a term that
 * is not optional has no usable box there: half of a sum is worse than none. A metric is partial if
 * a term has fewer boxes than the PMUs found for it, or if an optional term has none. 0, even if
 * everything is absent. -ENOMEM; -E2BIG: more sockets, channels or events than a plan can have;
 * errors of pmu_list_load().
 */
int planner_make_plan(const struct platform *platform, int root_fd, const struct topology *topology,
	struct plan *ret, struct fault *fault);
