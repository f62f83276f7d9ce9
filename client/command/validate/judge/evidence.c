/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/median.h"

struct shown evidence_show(const struct evidence *evidence, uint32_t series)
{
	const struct fit fit = fit_series(evidence->kernels, evidence->n_kernels, series, false);

	return shape_of(&fit);
}

double evidence_others(const struct evidence *evidence)
{
	double most = 0;

	for (unsigned i = 0; i < evidence->n_kernels; i++)
		if (measured_notices_others(evidence->kernels[i]))
			most = fmax(most, fabs(evidence->kernels[i]->background));
	return most;
}

void evidence_views(const struct evidence *evidence, uint32_t socket, struct tier_view *ret)
{
	*ret = (struct tier_view){ .n = evidence->tier.n };
	for (unsigned i = 0; i < ret->n; i++) {
		const struct tier_metric *metric = &evidence->tier.metric[i];
		struct metric_view *view = &ret->view[i];

		view->metric = metric->name;
		view->wanted = metric->wanted;
		view->series = probe_find(evidence->probe, socket, metric->name);
		view->shown = evidence_show(evidence, view->series);
		view->with_others =
			fit_series(evidence->kernels, evidence->n_kernels, view->series, true);
	}
}

static bool is_near(double shown, double with_others, double value, double tolerance)
{
	return fabs(value - shown) <= fabs(with_others - shown) + tolerance;
}

bool evidence_may_be(const struct evidence *evidence, const struct metric_view *view, double reads,
	double writes)
{
	const struct fit *fit = &view->shown.fit, *most = &view->with_others;
	const double tolerance = view->shown.tolerance;

	return evidence_others(evidence) > 0 &&
	       is_near(fit->reads, most->reads, reads, tolerance) &&
	       is_near(fit->writes, most->writes, writes, tolerance);
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

/* --- channels --- */

/* A channel below this share of the others counts nothing. */
static const double SILENT = 0.05;
/* Channels differ a little: the kernels' arrays begin and end somewhere. */
static const double EVEN = 0.1;
/* How near a number of channels must be to a whole number: as a share, and closer than that share
 * among many channels. */
static const double WHOLE = 0.02, WHOLE_OF_MANY = 0.3;

/* The median scale of the channels that count. A doubled or a dead channel does not move it. */
static double middle_scale(const struct channels *channels)
{
	double scales[CHANNELS_MAX], most = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < channels->n; i++)
		most = fmax(most, channels->channel[i].shown.scale);
	for (unsigned i = 0; i < channels->n; i++)
		if (channels->channel[i].shown.scale > SILENT * most)
			scales[n++] = channels->channel[i].shown.scale;
	qsort(scales, n, sizeof *scales, median_compare);
	return n ? scales[(n - 1) / 2] : 0;
}

static unsigned count_of_shape(const struct channels *channels, enum shape shape)
{
	unsigned n = 0;

	for (unsigned i = 0; i < channels->n; i++)
		n += channels->channel[i].is_active && channels->channel[i].shown.shape == shape;
	return n;
}

static bool is_uneven(const struct shown *shown, double middle)
{
	return fabs(shown->scale / middle - 1) >
	       EVEN + SHAPE_ERRORS * shown->fit.error / shown->scale;
}

/* Among channels that mostly show what is @wanted, those of another pure shape differ, too. */
static void mark(struct channels *channels, enum shape wanted)
{
	const double middle = middle_scale(channels);
	bool has_shape;

	for (unsigned i = 0; i < channels->n; i++) {
		struct channel *channel = &channels->channel[i];

		channel->is_active = channel->shown.scale > SILENT * middle;
		channels->n_active += channel->is_active;
	}
	has_shape = 2 * count_of_shape(channels, wanted) > channels->n_active;
	for (unsigned i = 0; i < channels->n; i++) {
		struct channel *channel = &channels->channel[i];
		const enum shape shape = channel->shown.shape;

		channel->is_uneven = channel->is_active && (is_uneven(&channel->shown, middle) ||
								   (has_shape && shape != wanted &&
									   shape != SHAPE_MIXED &&
									   shape != SHAPE_NOTHING));
	}
}

/* Beside others the scale is not known well enough to tell. */
static unsigned count_expected(const struct evidence *evidence, const struct channels *channels,
	const struct metric_view *view)
{
	const double n_active = channels->n_active, n = round(n_active / view->shown.scale);

	return !(evidence_others(evidence) > 0) && n > n_active && n <= channels->n &&
			       fabs(n * view->shown.scale / n_active - 1) <=
				       fmin(WHOLE, WHOLE_OF_MANY / n_active)
		       ? (unsigned)n
		       : channels->n_active;
}

void evidence_channels(
	const struct evidence *evidence, const struct metric_view *view, struct channels *ret)
{
	const struct probe *probe = evidence->probe;

	*ret = (struct channels){ .n = 0 };
	for (uint32_t i = 0; view->series != PROBE_NONE && i < probe->n_series; i++)
		if (probe_is_channel_of(probe, i, view->series) && ret->n < CHANNELS_MAX)
			ret->channel[ret->n++] = (struct channel){ probe->series[i].name, i,
				evidence_show(evidence, i), false, false };
	mark(ret, view->wanted);
	ret->n_expected = count_expected(evidence, ret, view);
}

/* --- findings --- */

void findings_add(struct findings *findings, enum outcome outcome, const char *format, ...)
{
	const enum outcome of_node = outcome < OUTCOME_DEFECT ? outcome : OUTCOME_DEFECT;
	struct finding *finding = &findings->finding[findings->n];
	va_list arguments;

	if (of_node > findings->outcome)
		findings->outcome = of_node;
	if (findings->n == FINDINGS_MAX)
		return;
	findings->n++;
	finding->outcome = outcome;
	va_start(arguments, format);
	vsnprintf(finding->text, sizeof finding->text, format, arguments);
	va_end(arguments);
}

bool findings_are_factors(const struct findings *findings)
{
	for (unsigned i = 0; i < findings->n; i++)
		if (findings->finding[i].outcome != OUTCOME_RIGHT &&
			findings->finding[i].outcome != OUTCOME_FACTOR)
			return false;
	return findings->outcome == OUTCOME_DEFECT;
}

const char *outcome_word(enum outcome outcome)
{
	static const char *const words[] = {
		[OUTCOME_RIGHT] = "right",
		[OUTCOME_ABSENT] = "absent",
		[OUTCOME_UNCLEAR] = "inconclusive",
		[OUTCOME_DEFECT] = "defect",
	};

	return words[outcome];
}
