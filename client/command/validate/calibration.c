/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge.h"

#include <math.h>

/* How near to a power of two a measured factor must be: a count is always worth a power of two
 * bytes, as lines and bursts are. */
static const double NEAR = 0.03;

/* The bytes that uncored takes a count of the metric for; 0: its channels do not say. */
static uint32_t bytes_now(const struct session *session, uint32_t series)
{
	for (uint32_t i = 0; i < session->probe.reader.machine.n_channels; i++) {
		struct uncore_channel channel = UNCORE_CHANNEL_INIT;

		if (uncore_describe_channel(session->probe.reader.handle, i, &channel) == 0 &&
			channel.metric == session->probe.series[series].metric)
			return channel.bytes;
	}
	return 0;
}

static unsigned bytes_for(uint32_t bytes, double factor)
{
	double power = exp2(round(log2(factor)));

	return fabs(factor / power - 1) <= NEAR ? (unsigned)round(bytes * power) : 0;
}

static bool calibrate_metric(
	const struct session *session, const struct metric_view *view, struct calibration *ret)
{
	const struct shown *shown = &view->shown;

	if (view->series == PROBE_NONE || shown->shape != view->wanted ||
		!(session->probe.series[view->series].quality & UNCORE_UNCALIBRATED))
		return false;
	*ret = (struct calibration){
		.metric = view->metric,
		.factor = 1 / shown->scale,
		.error = shown->fit.error / (shown->scale * shown->scale),
	};
	ret->bytes = bytes_for(bytes_now(session, view->series), ret->factor);
	return true;
}

unsigned calibrate(const struct judged_node *node, struct calibration ret[TIER_METRICS_MAX])
{
	unsigned n = 0;

	if (judge_notices_others(node) ||
		(node->findings.outcome != OUTCOME_RIGHT && !findings_are_factors(&node->findings)))
		return 0;
	for (unsigned i = 0; i < node->views.n; i++)
		n += calibrate_metric(node->session, &node->views.view[i], &ret[n]);
	return n;
}
