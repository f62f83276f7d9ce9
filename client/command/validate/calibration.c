/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/calibration.h"

#include <math.h>

#include "client/command/validate/measure/shape.h"

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
	const struct session *session, const struct judged_metric *metric, struct calibration *ret)
{
	struct shown shown = shape_of(&metric->fit);

	if (metric->series == PROBE_NONE || shown.shape != metric->wanted ||
		!(session->probe.series[metric->series].quality & UNCORE_UNCALIBRATED))
		return false;
	*ret = (struct calibration){
		.metric = metric->name,
		.factor = 1 / shown.scale,
		.error = metric->fit.error / (shown.scale * shown.scale),
	};
	ret->bytes = bytes_for(bytes_now(session, metric->series), ret->factor);
	return true;
}

unsigned calibrate(const struct session *session, const struct judged_node *node,
	struct calibration ret[TIER_METRICS_MAX])
{
	unsigned n = 0;

	if (node->findings.outcome != OUTCOME_RIGHT && !findings_are_factors(&node->findings))
		return 0;
	for (unsigned i = 0; i < node->tier.n; i++)
		n += calibrate_metric(session, &node->metric[i], &ret[n]);
	return n;
}

void calibration_print(FILE *out, const struct session *session, const struct judged_node *node)
{
	struct calibration found[TIER_METRICS_MAX];
	unsigned n = calibrate(session, node, found), n_lines = 0;

	for (unsigned i = 0; i < n; i++)
		fprintf(out,
			"  %s is uncalibrated; what it shows times %.3f (+- %.3f) is right here.\n",
			found[i].metric, found[i].factor, found[i].error);
	for (unsigned i = 0; i < n; i++)
		if (found[i].bytes)
			fprintf(out, "%s    %s = %u\n",
				n_lines++ ? "" : "  For uncored.conf:\n    [calibration]\n",
				found[i].metric, found[i].bytes);
}
