/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge/verdict.h"

#include <math.h>
#include <string.h>

#include "client/command/validate/judge/causes.h"
#include "client/command/validate/judge/elsewhere.h"

enum { REPETITIONS_LEAST = 3 };

/* How much others may move during a kernel, as a share, before its result means little. */
static const double BACKGROUND_MOST = 0.05;
/* Without a remark, another counter may show this share, and a kernel may differ this much from the
 * fit. */
static const double MENTIONED = 0.05;
/* How much non-temporal stores may read, as a share of what they write. */
static const double NT_READS_MOST = 0.25;

/* --- is a verdict possible? --- */

static bool is_absent(
	const struct evidence *evidence, const char *metric, struct findings *findings)
{
	const struct probe *probe = evidence->probe;
	uint32_t series = probe_find(probe, evidence->socket, metric);

	if (series == PROBE_NONE)
		findings_add(findings, OUTCOME_ABSENT, "Platform %s has no metric %s.",
			probe->reader.machine.platform, metric);
	else if (probe->series[series].quality & UNCORE_ABSENT)
		findings_add(findings, OUTCOME_ABSENT, "%s is absent: %s", metric,
			uncore_why(probe->reader.handle, probe->series[series].why));
	else
		return false;
	return true;
}

/* Does uncored itself flag the metric? Then it is clear why the numbers are not right. */
static bool is_flagged(
	const struct evidence *evidence, const char *metric, struct findings *findings)
{
	static const uint32_t FLAGS = UNCORE_PARTIAL | UNCORE_FROZEN | UNCORE_RESET;
	const struct probe *probe = evidence->probe;
	uint32_t quality = probe->series[probe_find(probe, evidence->socket, metric)].quality;
	char words[128];

	if (!(quality & FLAGS))
		return false;
	uncore_quality_words(quality & FLAGS, words, sizeof words);
	findings_add(findings, OUTCOME_UNCLEAR,
		"uncored itself calls %s %s: `uncore info` says why. No verdict rests on such "
		"values.",
		metric, words);
	return true;
}

/* If events take turns at a counter, the values are less certain. */
static bool is_estimated(
	const struct evidence *evidence, const char *metric, struct findings *findings)
{
	const struct probe *probe = evidence->probe;
	uint32_t quality = probe->series[probe_find(probe, evidence->socket, metric)].quality;

	if (!(quality & UNCORE_ESTIMATED))
		return false;
	findings_add(findings, OUTCOME_UNCLEAR,
		"%s is estimated: more events than counters take turns. A longer --time may help.",
		metric);
	return true;
}

typedef bool (*hindrance)(
	const struct evidence *evidence, const char *metric, struct findings *findings);

static bool any_metric(
	const struct evidence *evidence, hindrance is_hindered, struct findings *findings)
{
	bool found = false;

	for (unsigned i = 0; i < evidence->tier.n; i++)
		found |= is_hindered(evidence, evidence->tier.metric[i].name, findings);
	return found;
}

static bool is_noisy(const struct measured *kernel, struct findings *findings)
{
	const char *name = kernel->kernel->name;

	if (kernel->n < REPETITIONS_LEAST)
		findings_add(findings, OUTCOME_UNCLEAR,
			"Too noisy to say: the kernel moved pages in %u of %u repetitions of %s.",
			kernel->n_dropped, kernel->n + kernel->n_dropped, name);
	else if (!kernel->is_known)
		findings_add(findings, OUTCOME_UNCLEAR,
			"Too noisy to say: after %u repetitions of %s the standard error is still "
			"%.1f %%. Other programs use this memory.",
			kernel->n, name, 100 * kernel->error);
	else if (fabs(kernel->background) > BACKGROUND_MOST)
		findings_add(findings, OUTCOME_UNCLEAR,
			"Too noisy to say: other programs moved %.0f %% as much as %s.",
			100 * kernel->background, name);
	else
		return false;
	return true;
}

static bool are_noisy(const struct evidence *evidence, struct findings *findings)
{
	for (unsigned i = 0; i < evidence->n_kernels; i++)
		if (is_noisy(evidence->kernels[i], findings))
			return true;
	return false;
}

/* --- kernels that do not fit --- */

enum { BASE_KERNELS = 2 }; /* load and update, which are enough for a fit */

/* How much more @kernel shows than the fit of the other kernels predicts, as a share of what it
 * moves. */
static double surplus_of(const struct measured *kernel, const struct metric_view *expected)
{
	const struct fit *fit = &expected->shown.fit;
	double predicted =
		fit->reads * kernel->predicted.read + fit->writes * kernel->predicted.written;

	return (kernel->bytes[expected->series] - predicted) / measured_total(kernel);
}

/*
 * Reports what a kernel shows beyond the fit @base of the first two kernels. Additional reads are a
 * known case: on a full node, non-temporal stores of some CPUs also read (16 to 18 % in the
 * CloverLeaf paper).
 */
static bool is_misfit(
	const struct tier_view *base, const struct measured *kernel, struct findings *findings)
{
	const char *name = kernel->kernel->name;
	double scale = views_scale(base), noise = fabs(kernel->background) + 3 * kernel->error;
	bool found = false;

	for (unsigned i = 0; i < base->n; i++) {
		const struct metric_view *view = &base->view[i];
		double surplus = surplus_of(kernel, view) / scale;

		if (fabs(surplus) <= MENTIONED + view->shown.tolerance + noise)
			continue;
		found = true;
		if (view->wanted != SHAPE_WRITES && surplus > 0 && surplus <= NT_READS_MOST)
			findings_add(findings, OUTCOME_RIGHT,
				"Remark: %s also reads %.2f of what it writes. The verdict leaves "
				"it out.",
				name, surplus);
		else
			findings_add(findings, OUTCOME_DEFECT,
				"%s does not fit the other kernels: %s shows %+.2f too much of "
				"what it moves.",
				name, view->metric, surplus);
	}
	return found;
}

/* Copies the kernels that fit to @ret, which has room for all. */
static unsigned leave_out_misfits(
	const struct evidence *evidence, const struct measured *ret[], struct findings *findings)
{
	struct evidence base = *evidence;
	struct tier_view views;
	unsigned n = 0;

	if (base.n_kernels > BASE_KERNELS)
		base.n_kernels = BASE_KERNELS;
	evidence_views(&base, base.socket, &views);
	for (unsigned i = 0; i < evidence->n_kernels; i++)
		if (i < BASE_KERNELS || views_scale(&views) < MENTIONED ||
			!is_misfit(&views, evidence->kernels[i], findings))
			ret[n++] = evidence->kernels[i];
	return n;
}

/* --- what is worth a remark --- */

/* The evidence of the kernels that claim no lines. */
static struct evidence without_claims(
	const struct evidence *evidence, const struct measured *ret_kernels[])
{
	struct evidence rest = *evidence;

	rest.n_kernels = 0;
	rest.kernels = ret_kernels;
	for (unsigned i = 0; i < evidence->n_kernels; i++)
		if (evidence->kernels[i]->kernel->use == KERNEL_JUDGED)
			ret_kernels[rest.n_kernels++] = evidence->kernels[i];
	return rest;
}

/* What @metric should show of the kernels. Metrics of other memory and of claimed lines should show
 * nothing. A second way to count a metric should show the same as the metric. */
static enum shape expected_of(const struct evidence *evidence, const char *metric)
{
	static const char check[] = "check.";

	if (strncmp(metric, check, sizeof check - 1) == 0)
		metric += sizeof check - 1;
	for (unsigned i = 0; i < evidence->tier.n; i++)
		if (strcmp(metric, evidence->tier.metric[i].name) == 0)
			return evidence->tier.metric[i].wanted;
	return SHAPE_NOTHING;
}

static void remark_on(const struct evidence *evidence, uint32_t series, struct findings *findings)
{
	const char *name = evidence->probe->series[series].name;
	struct shown shown = evidence_show(evidence, series);
	enum shape expected = expected_of(evidence, name);

	if (expected == SHAPE_NOTHING ? shown.shape == SHAPE_NOTHING || shown.scale <= MENTIONED
				      : shape_is_right(&shown, expected))
		return;
	findings_add(findings, OUTCOME_RIGHT,
		"Remark: %s shows %.2f of the reads and %.2f of the writes, though it should show "
		"%s.",
		name, shape_rounded(shown.fit.reads), shape_rounded(shown.fit.writes),
		shape_words(expected));
}

static void remark_on_others(const struct evidence *evidence, struct findings *findings)
{
	const struct probe *probe = evidence->probe;

	for (uint32_t i = 0; i < probe->n_series && !probe->series[i].is_channel; i++) {
		const struct probe_series *series = &probe->series[i];

		if (series->socket == evidence->socket && !(series->quality & UNCORE_ABSENT) &&
			!tier_has(&evidence->tier, series->name))
			remark_on(evidence, i, findings);
	}
}

/* --- the verdict --- */

/* Do the shares of each metric here and elsewhere add up to all of its traffic? */
static bool is_all_elsewhere(const struct tier_view *here, double elsewhere)
{
	for (unsigned i = 0; i < here->n; i++)
		if (!shape_is_near(here->view[i].shown.scale + elsewhere, 1, MENTIONED))
			return false;
	return elsewhere > 0;
}

static void judge(const struct evidence *evidence, struct findings *ret)
{
	const struct measured *kernels[EVIDENCE_KERNELS_MAX];
	const struct evidence rest = without_claims(evidence, kernels);
	struct tier_view here;

	evidence_views(evidence, evidence->socket, &here);
	/* If most shows elsewhere, the little that shows here may come from others. */
	if (views_are_empty(&here) ||
		(views_scale(&here) < MENTIONED && elsewhere_is_most(evidence))) {
		elsewhere_entirely(evidence, ret);
		return;
	}
	/* What is missing here but shows elsewhere needs no other cause. */
	if (!is_all_elsewhere(&here, elsewhere_in_part(evidence, ret)))
		causes_explain(evidence, &here, ret);
	if (ret->outcome == OUTCOME_RIGHT)
		causes_check_channels(evidence, &here, ret);
	remark_on_others(&rest, ret);
}

bool verdict_is_absent(const struct evidence *evidence, struct findings *ret)
{
	return any_metric(evidence, is_absent, ret);
}

void verdict(const struct evidence *evidence, struct findings *ret)
{
	const struct measured *kernels[EVIDENCE_KERNELS_MAX];
	struct evidence fitting = *evidence;

	if (verdict_is_absent(evidence, ret) || any_metric(evidence, is_flagged, ret))
		return;
	if (are_noisy(evidence, ret)) {
		any_metric(evidence, is_estimated, ret);
		return;
	}
	fitting.kernels = kernels;
	fitting.n_kernels = leave_out_misfits(evidence, kernels, ret);
	/* If counters are not a sum of reads and writes, no cause is known. */
	if (ret->outcome != OUTCOME_DEFECT)
		judge(&fitting, ret);
}

struct fit verdict_fit(const struct evidence *evidence, const char *metric)
{
	return evidence_show(evidence, probe_find(evidence->probe, evidence->socket, metric)).fit;
}
