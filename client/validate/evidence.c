/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/validate/evidence.h"

struct shown evidence_show(const struct evidence *evidence, uint32_t series)
{
	struct fit fit = { 0 };

	if (series != METER_NONE)
		fit_series(evidence->kernels, evidence->n_kernels, series, &fit);
	return shape_of(&fit);
}

struct pair_shown evidence_pair(const struct evidence *evidence, uint32_t socket)
{
	struct pair_shown pair = {
		.read_series = meter_find(evidence->meter, socket, evidence->read_metric),
		.write_series = meter_find(evidence->meter, socket, evidence->write_metric),
	};

	pair.read = evidence_show(evidence, pair.read_series);
	pair.write = evidence_show(evidence, pair.write_series);
	return pair;
}

bool evidence_is_empty(const struct pair_shown *pair)
{
	return pair->read.shape == SHAPE_NOTHING && pair->write.shape == SHAPE_NOTHING;
}
