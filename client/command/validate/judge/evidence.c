/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge/evidence.h"

#include <math.h>

struct shown evidence_show(const struct evidence *evidence, uint32_t series)
{
	struct fit fit = { 0 };

	if (series != PROBE_NONE)
		fit_series(evidence->kernels, evidence->n_kernels, series, &fit);
	return shape_of(&fit);
}

void evidence_views(const struct evidence *evidence, uint32_t socket, struct tier_view *ret)
{
	*ret = (struct tier_view){ .n = evidence->tier.n };
	for (unsigned i = 0; i < ret->n; i++) {
		const struct tier_metric *metric = &evidence->tier.metric[i];
		uint32_t series = probe_find(evidence->probe, socket, metric->name);

		ret->view[i] = (struct metric_view){ metric->name, metric->wanted, series,
			evidence_show(evidence, series) };
	}
}

bool views_are_empty(const struct tier_view *views)
{
	for (unsigned i = 0; i < views->n; i++)
		if (views->view[i].shown.shape != SHAPE_NOTHING)
			return false;
	return true;
}

double views_scale(const struct tier_view *views)
{
	double scale = 0;

	for (unsigned i = 0; i < views->n; i++)
		scale = fmax(scale, views->view[i].shown.scale);
	return scale;
}
