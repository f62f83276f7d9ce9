/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the channels of a metric say about a wrong scale. A socket's lines are interleaved over its
 * channels, so each channel shows as much as the next one.
 */
#pragma once

#include "client/command/validate/judge/evidence.h"
#include "client/command/validate/judge/findings.h"

enum { CHANNELS_MAX = 64 };

struct channel_shown {
	const char *name;
	struct shown shown;
	double share; /* of the median of the channels that count */
};

struct channels {
	unsigned n;        /* boxes that uncored reads for the metric */
	unsigned n_active; /* that count something */
	struct channel_shown channel[CHANNELS_MAX];
};

/* Fits all channels of series @metric. */
void channels_fit(const struct evidence *evidence, uint32_t metric, struct channels *ret);

/* Says why @metrics show @scale of what they should; false: the channels do not explain it. */
bool channels_explain(const struct channels *channels, const char *metrics, double scale,
	struct findings *findings);

/* Names the channels that show more or less than the others; false: there are none. @metrics show
 * @scale of what they should. */
bool channels_are_uneven(const struct channels *channels, const char *metrics, double scale,
	struct findings *findings);

/* Names the boxes that count nothing, if there are any. */
void channels_remark_on_silent(
	const struct channels *channels, const char *metric, struct findings *findings);

/* Names the channels with another shape than @wanted; false: there are none. */
bool channels_differ(const struct channels *channels, const char *metric, enum shape wanted,
	struct findings *findings);
