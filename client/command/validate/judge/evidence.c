/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge/evidence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct shown evidence_show(const struct evidence *evidence, uint32_t series)
{
	struct fit fit = { 0 };

	if (series != PROBE_NONE)
		fit_series(evidence->kernels, evidence->n_kernels, series, false, &fit);
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
		uint32_t series = probe_find(evidence->probe, socket, metric->name);

		ret->view[i] = (struct metric_view){ metric->name, metric->wanted, series,
			evidence_show(evidence, series), { 0 } };
		if (series != PROBE_NONE && evidence_others(evidence) > 0)
			fit_series(evidence->kernels, evidence->n_kernels, series, true,
				&ret->view[i].with_others);
		else
			ret->view[i].with_others = ret->view[i].shown.fit;
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
