/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

enum { NAMES_BYTES = 200, SILENT_BYTES = 280, NAMED_MAX = 16 };

/* How much prefetchers may add to the reads. */
static const double OVERFETCH_MOST = 0.15;
/* How much directories in memory, or the partly written lines of others, may add to the other
 * metric. */
static const double BESIDE_MOST = 0.1;
static const double NEAR_POWER = 0.04;
/* Another socket is named only if it shows at least this share. */
static const double MENTIONED = 0.05;

/* --- names of channels --- */

/* Writes "imc3, imc4" for the @wanted ones; returns how many there are. */
static unsigned name_those(
	const struct channels *channels, const bool wanted[CHANNELS_MAX], char ret[NAMES_BYTES])
{
	unsigned n = 0;

	*ret = '\0';
	for (unsigned i = 0; i < channels->n; i++)
		if (wanted[i] && n++ < NAMED_MAX)
			text_append(ret, NAMES_BYTES, "%s%s", *ret ? ", " : "",
				channels->channel[i].name);
	if (n > NAMED_MAX)
		text_append(ret, NAMES_BYTES, " and %u more", n - NAMED_MAX);
	return n;
}

static bool explain_uneven(
	const struct evidence *evidence, const struct channels *channels, const char *metric)
{
	bool wanted[CHANNELS_MAX];
	char names[NAMES_BYTES];

	for (unsigned i = 0; i < channels->n; i++)
		wanted[i] = channels->channel[i].is_uneven;
	if (!name_those(channels, wanted, names))
		return false;
	findings_add(evidence->findings, OUTCOME_DEFECT,
		"%s: not every channel shows the same. These differ: %s.", metric, names);
	return true;
}

/* --- a metric that shows what it should, but more or less of it --- */

/* Writes what the boxes that count nothing explain; "": nothing. */
static void describe_silent(const struct channels *channels, char ret[SILENT_BYTES])
{
	bool wanted[CHANNELS_MAX];
	char names[NAMES_BYTES];

	*ret = '\0';
	if (channels->n_expected == channels->n_active)
		return;
	for (unsigned i = 0; i < channels->n; i++)
		wanted[i] = !channels->channel[i].is_active;
	name_those(channels, wanted, names);
	text_append(ret, SILENT_BYTES,
		"%u of %u channels count nothing. Boxes that count nothing: %s.",
		channels->n_expected - channels->n_active, channels->n_expected, names);
}

/* Beside others no factor is known well enough to name a power of two. */
static void explain_scale(const struct evidence *evidence, const struct metric_view *view,
	const struct channels *channels)
{
	const bool is_beside = evidence_others(evidence) > 0;
	const double power = is_beside ? 0 : shape_power_of_two(view->shown.scale, NEAR_POWER);
	char silent[SILENT_BYTES];

	describe_silent(channels, silent);
	if (power != 0 && power != 1)
		findings_add(evidence->findings, OUTCOME_FACTOR,
			"%s: a factor of %g. One count is worth %g times the bytes that uncored "
			"takes it for%s%s",
			view->metric, power, 1 / power, *silent ? ", or " : ".", silent);
	else if (*silent)
		findings_add(evidence->findings, OUTCOME_DEFECT, "%s: %s", view->metric, silent);
	else
		findings_add(evidence->findings, OUTCOME_DEFECT,
			"%s: a factor of %s%.*f, the same on each channel.", view->metric,
			is_beside ? "about " : "", is_beside ? 2 : 3, view->shown.scale);
}

/* --- one metric --- */

static bool is_right(const struct metric_view *view)
{
	return view->shown.shape == view->wanted &&
	       shape_is_near(view->shown.scale, 1, view->shown.tolerance);
}

static bool may_be_right(const struct evidence *evidence, const struct metric_view *view)
{
	return evidence_may_be(
		evidence, view, view->wanted != SHAPE_WRITES, view->wanted != SHAPE_READS);
}

/* Does it show all that it should, and a little more? */
static bool is_excess(const struct metric_view *view)
{
	const bool wants_reads = view->wanted == SHAPE_READS;
	const struct shown *shown = &view->shown;
	const double all = wants_reads ? shown->fit.reads : shown->fit.writes;
	const double rest = wants_reads ? shown->fit.writes : shown->fit.reads;

	if (wants_reads && shown->shape == SHAPE_READS)
		return all > 1 && all <= 1 + OVERFETCH_MOST;
	return view->wanted != SHAPE_BOTH && shown->shape == SHAPE_MIXED &&
	       shape_is_near(all, 1, shown->tolerance) && rest > 0 && rest <= BESIDE_MOST;
}

static void explain_numbers(const struct evidence *evidence, const struct metric_view *view,
	enum outcome outcome, const char *why)
{
	findings_add(evidence->findings, outcome,
		"%s shows %.2f of the reads and %.2f of the writes.%s", view->metric,
		shape_rounded(view->shown.fit.reads), shape_rounded(view->shown.fit.writes), why);
}

/* Is a right metric as likely as a defect? */
static bool explain_doubt(const struct evidence *evidence, const struct metric_view *view)
{
	if (is_excess(view))
		explain_numbers(evidence, view, OUTCOME_UNCLEAR,
			" Prefetchers may fetch lines that nobody uses, and directories in memory "
			"add writes to reads.");
	else if (may_be_right(evidence, view))
		explain_numbers(evidence, view, OUTCOME_UNCLEAR,
			" Too noisy to say: other programs may move less or more beside the "
			"kernels.");
	else
		return false;
	return true;
}

/* --- all metrics --- */

static bool are_swapped(const struct tier_view *views)
{
	return views->n == 2 && views->view[0].shown.shape == SHAPE_WRITES &&
	       views->view[1].shown.shape == SHAPE_READS;
}

void causes_explain(const struct evidence *evidence, const struct tier_view *views)
{
	const bool is_swapped = are_swapped(views);

	if (is_swapped)
		findings_add(evidence->findings, OUTCOME_DEFECT, "Reads and writes are swapped.");
	for (unsigned i = 0; i < views->n; i++) {
		const struct metric_view *view = &views->view[i];
		struct channels channels;

		evidence_channels(evidence, view, &channels);
		if (is_right(view) ||
			(!may_be_right(evidence, view) &&
				explain_uneven(evidence, &channels, view->metric)) ||
			explain_doubt(evidence, view))
			continue;
		if (view->shown.shape != view->wanted && !is_swapped)
			explain_numbers(evidence, view, OUTCOME_DEFECT, "");
		else if (!shape_is_near(view->shown.scale, 1, view->shown.tolerance))
			explain_scale(evidence, view, &channels);
	}
}

/* --- where the sums are right --- */

/* Two channels of a memory controller differ by some lines of millions. */
static bool show_the_same(const struct evidence *evidence, uint32_t one, uint32_t other)
{
	for (unsigned k = 0; k < evidence->n_kernels; k++)
		if (evidence->kernels[k]->bytes[one] != evidence->kernels[k]->bytes[other])
			return false;
	return true;
}

static void find_twins(
	const struct evidence *evidence, const struct channels *channels, const char *metric)
{
	bool wanted[CHANNELS_MAX] = { false };
	char names[NAMES_BYTES];

	for (unsigned i = 0; evidence->is_exact && i < channels->n; i++)
		for (unsigned k = 0; k < channels->n; k++)
			wanted[i] |= i != k && channels->channel[i].is_active &&
				     show_the_same(evidence, channels->channel[i].series,
					     channels->channel[k].series);
	if (name_those(channels, wanted, names))
		findings_add(evidence->findings, OUTCOME_DEFECT,
			"%s: these boxes show the same to the byte: %s.", metric, names);
}

/* A box that counts for one metric of a tier only differs from the others. */
static void mark_lonely(struct channels *reads, struct channels *writes)
{
	for (unsigned i = 0; i < reads->n && i < writes->n; i++)
		if (reads->channel[i].is_active != writes->channel[i].is_active &&
			strcmp(reads->channel[i].name, writes->channel[i].name) == 0)
			reads->channel[i].is_uneven = writes->channel[i].is_uneven = true;
}

void causes_check_channels(const struct evidence *evidence, const struct tier_view *views)
{
	struct channels channels[TIER_METRICS_MAX];

	for (unsigned i = 0; i < views->n; i++)
		evidence_channels(evidence, &views->view[i], &channels[i]);
	if (views->n == 2)
		mark_lonely(&channels[0], &channels[1]);
	for (unsigned i = 0; i < views->n; i++) {
		explain_uneven(evidence, &channels[i], views->view[i].metric);
		find_twins(evidence, &channels[i], views->view[i].metric);
	}
}

/* --- traffic that does not show in the metrics where it should --- */

/* Can it be that none of this is the node's? */
static bool are_of_others(const struct evidence *evidence, const struct tier_view *views)
{
	for (unsigned i = 0; i < views->n; i++)
		if (!evidence_may_be(evidence, &views->view[i], 0, 0))
			return false;
	return true;
}

/* The share that the metrics of @tier show on @socket; 0: too little to name it. */
static double share_of(const struct evidence *evidence, const struct tier *tier, uint32_t socket)
{
	struct evidence other = *evidence;
	struct tier_view views;

	other.tier = *tier;
	evidence_views(&other, socket, &views);
	return views_are_empty(&views) || views_scale(&views) < MENTIONED ||
			       are_of_others(&other, &views)
		       ? 0
		       : views_scale(&views);
}

/* HBM can be a cache of DRAM (KNL's cache mode, Xeon Max's). Then DRAM is rightly idle. */
static double causes_find_in(
	const struct evidence *evidence, const struct tier *tier, uint32_t socket)
{
	const double share = share_of(evidence, tier, socket);
	const bool may_be_cache = socket == evidence->socket && !evidence->has_memory_nodes;
	char names[TIER_NAMES_BYTES];

	tier_names(tier, names);
	if (share > 0)
		findings_add(evidence->findings, may_be_cache ? OUTCOME_UNCLEAR : OUTCOME_DEFECT,
			"The traffic of node %u shows on other counters: %.2f of it in %s of "
			"socket %u.%s",
			evidence->node, share, names, socket,
			may_be_cache ? " That may be a cache of this memory: flat mode would tell."
				     : "");
	return share;
}

double causes_elsewhere(const struct evidence *evidence, bool entirely)
{
	const struct tier *tier;
	double sum = 0;

	for (uint32_t i = 0; i < evidence->probe->reader.machine.n_sockets; i++)
		if (i != evidence->socket)
			sum += causes_find_in(evidence, &evidence->tier, i);
	for (size_t i = 0; entirely && (tier = tier_nth(i)); i++)
		if (!tier_has(&evidence->tier, tier->metric[0].name))
			sum += causes_find_in(evidence, tier, evidence->socket);
	return sum;
}
