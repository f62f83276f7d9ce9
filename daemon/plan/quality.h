/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known about a value before anything is counted: absent, partial, or in doubt. */
#pragma once

#include "daemon/machine/topology.h"
#include "daemon/plan/match.h"
#include "daemon/plan/plan.h"
#include "daemon/plan/platform.h"

/* Fills in .quality and .why of @metric for @socket, number @s; one list of @lists per term. */
void quality_judge(struct plan_socket *socket, unsigned metric, const struct platform *platform,
	const struct match_list lists[], const struct topology *topology, unsigned s);
