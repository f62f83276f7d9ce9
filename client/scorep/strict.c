/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore_plugin, which Score-P calls at each enter and leave, for profiles and traces.
 *
 * Score-P wants values of every thread of every rank, and its tools add them up. But counts belong
 * to the node. So one thread of each node records, the one that starts the measurement in the first
 * rank there; the values of all others stay 0. Score-P has a way to leave out values
 * (SCOREP_METRIC_SYNC), which its profiles do not survive: by its sources, 8.4 ends the program at
 * the first enter or leave without a value. It keeps no metric of a node in a profile, either.
 */
#include <pthread.h>
#include <string.h>

#include "client/scorep/plugin.h"
#include "common/macro.h"

static pthread_t recorder;

/* Score-P asks for one metric after the other. The first one that it asks for again belongs to the
 * next event. */
static bool is_asked[SCOREP_METRICS_MAX];

struct plugin plugin = { .name = "uncore_plugin" };

static int32_t strict_initialize(void)
{
	recorder = pthread_self();
	memset(is_asked, true, sizeof is_asked);
	return plugin_initialize();
}

static uint64_t strict_read_metric(int32_t id)
{
	if (!pthread_equal(recorder, pthread_self()))
		return 0;
	if (plugin.is_recording && is_asked[id]) {
		memset(is_asked, false, sizeof is_asked);
		plugin_take();
	}
	is_asked[id] = true;
	return plugin_value(id);
}

_public_ struct scorep_plugin SCOREP_MetricPlugin_uncore_plugin_get_info(void);

_public_ struct scorep_plugin SCOREP_MetricPlugin_uncore_plugin_get_info(void)
{
	return (struct scorep_plugin){
		.interface = SCOREP_INTERFACE,
		.recorder = SCOREP_PER_THREAD,
		.timing = SCOREP_STRICTLY_SYNCHRONOUS,
		.initialize = strict_initialize,
		.finalize = plugin_finalize,
		.list = plugin_list,
		.add = plugin_add,
		.read = strict_read_metric,
	};
}
