/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory channels of a plan: their names, and the kernel's names for their counters. */
#pragma once

#include <stdint.h>

#include "daemon/base/fault.h"
#include "daemon/machine/topology.h"
#include "daemon/plan/match.h"
#include "daemon/plan/plan.h"

/*
 * The channel of p->metric on p->box, which it adds to @plan if it is not there: terms of one
 * metric on one box make one channel. *@ret is its index. -ENOMEM, -E2BIG with the reason in
 * @fault.
 */
int channels_take(struct plan *plan, const struct topology *topology, const struct placement *p,
	int32_t *ret, struct fault *fault);
