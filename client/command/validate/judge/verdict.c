/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge/verdict.h"

#include <math.h>
#include <string.h>

enum { REPETITIONS_LEAST = 3 };

/* How much others may move, as a share of what a kernel moves, before its result means little. */
static const double BACKGROUND_MOST = 0.3;
/* If a while after a kernel others move this share less, or more, they come and go, or they are the
 * kernel's own counts. */
static const double UNSTEADY = 0.5;
/* Without a remark, another counter may show this share, and a kernel may differ this much from the
 * fit. */
static const double MENTIONED = 0.05;
/* How much non-temporal stores may read, as a share of what they write. */
static const double NT_READS_MOST = 0.25;

/* --- is a verdict possible? --- */

static uint32_t series_of(const struct evidence *evidence, unsigned i)
{
	return probe_find(evidence->probe, evidence->socket, evidence->tier.metric[i].name);
}

static bool judge_is_absent(const struct evidence *evidence, unsigned i)
{
	const struct probe *probe = evidence->probe;
	const char *metric = evidence->tier.metric[i].name;
	const uint32_t series = series_of(evidence, i);

	if (series == PROBE_NONE)
		findings_add(evidence->findings, OUTCOME_ABSENT, "Platform %s has no metric %s.",
			probe->reader.machine.platform, metric);
	else if (probe->series[series].quality & UNCORE_ABSENT)
		findings_add(evidence->findings, OUTCOME_ABSENT, "%s is absent: %s", metric,
			uncore_why(probe->reader.handle, probe->series[series].why));
	return !probe_has(probe, series);
}

/* Does uncored itself flag the metric? Then it is clear why the numbers are not right. But the
 * kernels move none of what machines of this kind never count, such as traffic of devices. */
static bool is_flagged(const struct evidence *evidence, unsigned i)
{
	const uint32_t flags = evidence->probe->series[series_of(evidence, i)].quality &
			       (UNCORE_PARTIAL | UNCORE_FROZEN | UNCORE_RESET);
	const char *metric = evidence->tier.metric[i].name;
	const bool is_by_design = flags == UNCORE_PARTIAL && evidence->never[i];
	char words[128];

	uncore_quality_words(flags, words, sizeof words);
	if (is_by_design)
		findings_add(evidence->findings, OUTCOME_RIGHT,
			"Remark: %s is partial on all machines of this kind: %s The verdict is on "
			"the rest.",
			metric, evidence->never[i]);
	else if (flags)
		findings_add(evidence->findings, OUTCOME_UNCLEAR,
			"uncored itself calls %s %s: `uncore info` says why. No verdict rests on "
			"such values.",
			metric, words);
	return flags && !is_by_design;
}

static bool any_metric(const struct evidence *evidence,
	bool (*is_hindered)(const struct evidence *evidence, unsigned i))
{
	bool found = false;

	for (unsigned i = 0; i < evidence->tier.n; i++)
		found |= is_hindered(evidence, i);
	return found;
}

static bool is_unsteady(const struct measured *kernel)
{
	return measured_notices_others(kernel) &&
	       fabs(kernel->background - kernel->at_rest) > UNSTEADY * fabs(kernel->background);
}

static bool is_noisy(const struct measured *kernel, struct findings *findings)
{
	static const char why[] = "Other programs use this memory, or counts come late.";
	const char *name = kernel->kernel->name;

	if (kernel->n < REPETITIONS_LEAST)
		findings_add(findings, OUTCOME_UNCLEAR,
			"Too noisy to say: the kernel moved pages in %u of %u repetitions of %s.",
			kernel->n_dropped, kernel->n + kernel->n_dropped, name);
	else if (!kernel->is_known)
		findings_add(findings, OUTCOME_UNCLEAR,
			"Too noisy to say: after %u repetitions of %s the standard error is still "
			"%.1f %%. %s",
			kernel->n, name, 100 * kernel->error, why);
	else if (is_unsteady(kernel) || fabs(kernel->background) > BACKGROUND_MOST)
		findings_add(findings, OUTCOME_UNCLEAR,
			"Too noisy to say: between the repetitions the counters show %.0f %% as "
			"much as %s moves, and a second later %.0f %%. %s",
			100 * kernel->background, name, 100 * kernel->at_rest, why);
	else
		return false;
	return true;
}

static bool are_noisy(const struct evidence *evidence)
{
	for (unsigned i = 0; i < evidence->n_kernels; i++)
		if (is_noisy(evidence->kernels[i], evidence->findings))
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
static bool is_misfit(const struct evidence *evidence, const struct tier_view *base,
	const struct measured *kernel)
{
	const char *name = kernel->kernel->name;
	struct findings *findings = evidence->findings;
	/* Both the kernel and the fit of the others may be off by that. */
	double others = fabs(kernel->background) + 2 * evidence_others(evidence);
	double scale = views_scale(base), noise = others + 3 * kernel->error;
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

static void leave_out_misfits(struct evidence *evidence)
{
	struct evidence base = *evidence;
	struct tier_view views;
	unsigned n = 0;

	if (base.n_kernels > BASE_KERNELS)
		base.n_kernels = BASE_KERNELS;
	evidence_views(&base, base.socket, &views);
	for (unsigned i = 0; i < evidence->n_kernels; i++)
		if (i < BASE_KERNELS || views_scale(&views) < MENTIONED ||
			!is_misfit(evidence, &views, evidence->kernels[i]))
			evidence->kernels[n++] = evidence->kernels[i];
	evidence->n_kernels = n;
}

/* --- what is worth a remark --- */

/* The evidence of the kernels that claim no lines: those that do come last. */
static struct evidence without_claims(const struct evidence *evidence)
{
	struct evidence rest = *evidence;

	while (rest.n_kernels && !rest.kernels[rest.n_kernels - 1]->kernel->is_judged)
		rest.n_kernels--;
	return rest;
}

/* Metrics of other memory and of claimed lines should show nothing of the kernels. */
static void remark_on(const struct evidence *evidence, uint32_t series)
{
	const struct shown shown = evidence_show(evidence, series);

	if (shown.shape != SHAPE_NOTHING && shown.scale > MENTIONED)
		findings_add(evidence->findings, OUTCOME_RIGHT,
			"Remark: %s shows %.2f of the reads and %.2f of the writes, though it "
			"should show nothing.",
			evidence->probe->series[series].name, shape_rounded(shown.fit.reads),
			shape_rounded(shown.fit.writes));
}

static void remark_on_others(const struct evidence *evidence)
{
	const struct probe *probe = evidence->probe;

	for (uint32_t i = 0; i < probe->n_series && !probe->series[i].is_channel; i++) {
		const struct probe_series *series = &probe->series[i];

		if (series->socket == evidence->socket && !(series->quality & UNCORE_ABSENT) &&
			!tier_has(&evidence->tier, series->name))
			remark_on(evidence, i);
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

static void remark_on_neighbours(const struct evidence *evidence)
{
	if (evidence_others(evidence) > 0)
		findings_add(evidence->findings, OUTCOME_RIGHT,
			"Remark: other programs move up to %.0f %% as much as the kernels. The "
			"verdict takes that off.",
			100 * evidence_others(evidence));
}

/* Beside others, a little that is shown may be a small scale, and no shape is known of it. */
static bool is_too_little(const struct evidence *evidence, const struct tier_view *here)
{
	if (!(evidence_others(evidence) > 0) || !views_are_empty(here) ||
		views_scale(here) < SHAPE_LEAST)
		return false;
	findings_add(evidence->findings, OUTCOME_UNCLEAR,
		"Too noisy to say: the counters show %.3f of what the kernels move, and other "
		"programs use this memory.",
		views_scale(here));
	return true;
}

static void judge_evidence(const struct evidence *evidence)
{
	const struct evidence rest = without_claims(evidence);
	struct tier_view here;
	double elsewhere;
	bool is_little;

	remark_on_neighbours(evidence);
	evidence_views(evidence, evidence->socket, &here);
	if (is_too_little(evidence, &here))
		return;
	/* If most shows elsewhere, the little that shows here may come from others. */
	is_little = views_scale(&here) < MENTIONED;
	elsewhere = causes_elsewhere(evidence, is_little);
	if (is_little && (elsewhere > 0 || views_are_empty(&here))) {
		if (elsewhere == 0)
			findings_add(evidence->findings, OUTCOME_DEFECT,
				"Nothing is counted: no counter shows the traffic of node %u.",
				evidence->node);
		return;
	}
	/* What is missing here but shows elsewhere needs no other cause. */
	if (!is_all_elsewhere(&here, elsewhere))
		causes_explain(evidence, &here);
	if (evidence->findings->outcome == OUTCOME_RIGHT)
		causes_check_channels(evidence, &here);
	remark_on_others(&rest);
}

bool verdict_is_absent(const struct evidence *evidence)
{
	return any_metric(evidence, judge_is_absent);
}

void verdict(struct evidence *evidence)
{
	if (verdict_is_absent(evidence) || any_metric(evidence, is_flagged) || are_noisy(evidence))
		return;
	leave_out_misfits(evidence);
	/* If counters are not a sum of reads and writes, no cause is known. */
	if (evidence->findings->outcome != OUTCOME_DEFECT)
		judge_evidence(evidence);
}
