/* SPDX-License-Identifier: BSD-3-Clause */
/* The clusters of metrics. They are part of the metrics' numbers, so they never change (see
 * pmns). */
#pragma once

#include "pmda/saved.h"

enum {
	TRAFFIC_CLUSTER = 0,
	CHANNEL_CLUSTER = 1,
	QUALITY_CLUSTER = 2,
	SAMPLE_CLUSTER = 3,
	DAEMON_CLUSTER = 4,
	UP_CLUSTER = 5, /* of one metric, which PAPI needs and which has no name below uncore */
	JOB_CLUSTER = 6,
	PERFEVENT_FIRST_CLUSTER = SAVED_FIRST_CLUSTER,
};
