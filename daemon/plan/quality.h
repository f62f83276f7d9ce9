/* SPDX-License-Identifier: BSD-3-Clause */
/* The quality of a value before anything is counted: absent, partial, or in doubt. */
#pragma once

#include "daemon/machine/topology.h"
#include "daemon/plan/match.h"
#include "daemon/plan/plan.h"
#include "daemon/plan/platform.h"

/* The facts for a judgement; all borrowed. */
struct quality_evidence {
	const struct platform *platform;
	const struct match_list *lists; /* of the metric, one for each term */
	const struct topology *topology;
	unsigned socket;
};

/* Fills in .quality and .why of @metric for @socket. */
void quality_judge(
	struct plan_socket *socket, unsigned metric, const struct quality_evidence *evidence);
