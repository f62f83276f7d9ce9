/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the channels of a metric say about a wrong scale. A socket's lines are interleaved over its
 * channels, so each channel shows as much as the next one.
 */
#pragma once

#include "client/command/validate/judge/evidence.h"

enum { CHANNELS_MAX = 64 };

struct channel_shown {
	const char *name;
	uint32_t series;
	struct shown shown;
	double share; /* of the median of the channels that count */
};

struct channels {
	struct findings *findings; /* for what the functions below find */
	unsigned n;                /* boxes that uncored reads for the metric */
	unsigned n_active;         /* that count something */
	struct channel_shown channel[CHANNELS_MAX];
};

/* Fits all channels of series @metric. */
void channels_fit(const struct evidence *evidence, uint32_t metric, struct channels *ret);

/* What part of what they should show metrics show; beside other programs it is not exact. */
struct scales {
	double shown, least, most; /* all the same: it is exact */
};

/* Says why @metrics show that scale; false: the channels do not explain it, or in several ways. */
bool channels_explain(
	const struct channels *channels, const char *metrics, const struct scales *scales);

/* Names the channels that show more or less than the others; false: there are none. @metrics show
 * @scale of what they should. */
bool channels_are_uneven(const struct channels *channels, const char *metrics, double scale);

/* Names the boxes that count nothing, if there are any. */
void channels_remark_on_silent(const struct channels *channels, const char *metric);

/* Names the boxes that showed the same to the byte of all kernels, which are one; false: none. */
bool channels_are_one(
	const struct channels *channels, const struct evidence *evidence, const char *metric);

/* Names the boxes that count something in only one of the two; false: there are none. */
bool channels_are_apart(const struct channels *reads, const struct channels *writes);

/* Names the channels with another shape than @wanted; false: there are none. */
bool channels_differ(const struct channels *channels, const char *metric, enum shape wanted);
