/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge/verdict.h"

#include <math.h>

#include "client/command/validate/judge/channels.h"
#include "common/text.h"

/* How much prefetchers may add to the reads. */
static const double OVERFETCH_MOST = 0.15;
/* How much directories in memory, or the partly written lines of others, may add to the other
 * metric. */
static const double BESIDE_MOST = 0.1;

/* --- beside other programs --- */

/* Is a right metric that is wrong by others' traffic as likely as a defect? */
static bool may_be_right(const struct evidence *evidence, const struct metric_view *view)
{
	return evidence_may_be(
		evidence, view, view->wanted != SHAPE_WRITES, view->wanted != SHAPE_READS);
}

static bool is_right(const struct metric_view *view)
{
	return shape_is_right(&view->shown, view->wanted);
}

/* Says so of all metrics that are not right; false: others cannot explain one of them. */
static bool explain_others(const struct evidence *evidence, const struct tier_view *views)
{
	char metrics[TIER_NAMES_BYTES] = "";

	for (unsigned i = 0; i < views->n; i++) {
		const struct metric_view *view = &views->view[i];

		if (is_right(view))
			continue;
		if (!may_be_right(evidence, view))
			return false;
		text_append(metrics, sizeof metrics, "%s%s", *metrics ? " and " : "", view->metric);
	}
	findings_add(evidence->findings, OUTCOME_UNCLEAR,
		"Too noisy to say: what %s shows is not right, but other programs move up to %.0f "
		"%% as much as the kernels, and may move less or more beside them.",
		metrics, 100 * evidence_others(evidence));
	return true;
}

/* --- one metric --- */

static bool is_whole(const struct shown *shown)
{
	return shape_is_near(shown->scale, 1, shown->tolerance);
}

/* What the scale may be: beside others it is not exact (evidence_may_be()). That they move more
 * beside a kernel is rare, so half of it is enough to name a cause. */
static struct scales scales_of(const struct evidence *evidence, const struct metric_view *view)
{
	const double shown = view->shown.scale, slack = 1 + view->shown.tolerance;
	const double most = fmax(view->with_others.reads, view->with_others.writes);
	const double off = fmin(fabs(most - shown), shown / 2);

	if (!(evidence_others(evidence) > 0))
		return (struct scales){ shown, shown, shown };
	return (struct scales){ shown, (shown - off / 2) / slack, (shown + off) * slack };
}

static void explain_scale(
	const struct evidence *evidence, const struct metric_view *view, const char *metrics)
{
	const double scale = view->shown.scale;
	const struct scales scales = scales_of(evidence, view);
	struct channels channels;

	channels_fit(evidence, view->series, &channels);
	if (channels_explain(&channels, metrics, &scales))
		return;
	if (scales.most > scales.least)
		findings_add(evidence->findings, OUTCOME_DEFECT,
			"%s: a factor of about %.2f to %.2f. Other programs move up to %.0f %% as "
			"much as the kernels, so neither the number nor its cause is certain.",
			metrics, scales.least, scales.most, 100 * evidence_others(evidence));
	else
		findings_add(evidence->findings, OUTCOME_FACTOR,
			"%s: a factor of %.3f, which no known defect has. One count is worth %.3f "
			"times the bytes that uncored takes it for.",
			metrics, scale, 1 / scale);
}

/* Does the metric show all that it should, and also a little of the other direction? */
static bool is_right_with_some(const struct metric_view *view)
{
	const struct fit *fit = &view->shown.fit;
	bool wants_reads = view->wanted == SHAPE_READS;
	double all = wants_reads ? fit->reads : fit->writes;
	double rest = wants_reads ? fit->writes : fit->reads;

	return view->wanted != SHAPE_BOTH && shape_is_near(all, 1, view->shown.tolerance) &&
	       rest > 0 && rest <= BESIDE_MOST;
}

/* Can others make this mixture of a pure shape? They may be noticed beside some of the kernels
 * only. */
static bool is_of_others(const struct evidence *evidence, const struct metric_view *view)
{
	const double others = evidence_others(evidence), far = 2 * others + view->shown.tolerance;
	const double reads = fabs(view->shown.fit.reads), writes = fabs(view->shown.fit.writes);

	return others > 0 && (fmin(reads, writes) <= far || fabs(reads - writes) <= far);
}

static void explain_mixed(const struct evidence *evidence, const struct metric_view *view)
{
	double reads = shape_rounded(view->shown.fit.reads);
	double writes = shape_rounded(view->shown.fit.writes);
	struct channels channels;

	channels_fit(evidence, view->series, &channels);
	if (channels_differ(&channels, view->metric, view->wanted))
		return;
	if (is_of_others(evidence, view))
		findings_add(evidence->findings, OUTCOME_UNCLEAR,
			"Too noisy to say: %s shows %.2f of the reads and %.2f of the writes, and "
			"other programs move up to %.0f %% as much as the kernels.",
			view->metric, reads, writes, 100 * evidence_others(evidence));
	else if (is_right_with_some(view))
		findings_add(evidence->findings, OUTCOME_UNCLEAR,
			"%s shows %.2f of the reads and %.2f of the writes: directories in memory "
			"may add as much.",
			view->metric, reads, writes);
	else
		findings_add(evidence->findings, OUTCOME_DEFECT,
			"%s shows %.2f of the reads and %.2f of the writes, which no known defect "
			"does.",
			view->metric, reads, writes);
}

static void explain_metric(const struct evidence *evidence, const struct metric_view *view)
{
	const struct shown *shown = &view->shown;

	if (is_right(view) || may_be_right(evidence, view))
		return;
	if (shown->shape == SHAPE_MIXED)
		explain_mixed(evidence, view);
	else if (shown->shape != view->wanted)
		findings_add(evidence->findings, OUTCOME_DEFECT, "%s shows %s in place of %s.",
			view->metric, shape_words(shown->shape), shape_words(view->wanted));
	if (shown->shape != SHAPE_MIXED && shown->shape != SHAPE_NOTHING && !is_whole(shown))
		explain_scale(evidence, view, view->metric);
}

/* --- both metrics --- */

/* Near each other, and both right or both wrong. */
static bool have_same_scale(const struct shown *read, const struct shown *write)
{
	return shape_is_near(read->scale / write->scale, 1, read->tolerance + write->tolerance) &&
	       is_whole(read) == is_whole(write);
}

/* Explains defects that both metrics share. */
static bool explain_both(const struct evidence *evidence, const struct tier_view *views)
{
	static const struct {
		enum shape read, write;
		const char *sentence; /* NULL: no defect but the scale */
	} patterns[] = {
		{ SHAPE_WRITES, SHAPE_READS, "Reads and writes are swapped." },
		{ SHAPE_BOTH, SHAPE_BOTH, "Both metrics count reads and writes together." },
		{ SHAPE_READS, SHAPE_WRITES, NULL },
	};
	const struct shown *read = &views->view[0].shown, *write = &views->view[1].shown;
	char metrics[TIER_NAMES_BYTES];

	if (!have_same_scale(read, write))
		return false;
	tier_names(&evidence->tier, metrics);
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (read->shape != patterns[i].read || write->shape != patterns[i].write)
			continue;
		if (patterns[i].sentence)
			findings_add(
				evidence->findings, OUTCOME_DEFECT, "%s", patterns[i].sentence);
		if (!is_whole(read))
			explain_scale(evidence, &views->view[0], metrics);
		return true;
	}
	return false;
}

/* Somewhat too many reads, evenly over all channels, while the writes are right. */
static bool is_overfetch(const struct evidence *evidence, const struct tier_view *views)
{
	const struct metric_view *read = &views->view[0], *write = &views->view[1];
	double extra = read->shown.scale - 1;
	struct findings none = { 0 };
	struct channels channels;

	if (!shape_is_right(&write->shown, SHAPE_WRITES) || read->shown.shape != SHAPE_READS ||
		is_whole(&read->shown) || extra < 0 || extra > OVERFETCH_MOST)
		return false;
	channels_fit(evidence, read->series, &channels);
	channels.findings = &none;
	if (channels_are_uneven(&channels, read->metric, read->shown.scale))
		return false;
	findings_add(evidence->findings, OUTCOME_UNCLEAR,
		"%s shows %.0f %% more reads than the kernels need, and the writes are right: "
		"prefetchers may fetch lines that nobody uses. Switch them off to know.",
		read->metric, 100 * extra);
	return true;
}

static bool are_right(const struct tier_view *views)
{
	for (unsigned i = 0; i < views->n; i++)
		if (!is_right(&views->view[i]))
			return false;
	return true;
}

void causes_explain(const struct evidence *evidence, const struct tier_view *views)
{
	if (are_right(views) || explain_others(evidence, views))
		return;
	if (views->n == 2 && (is_overfetch(evidence, views) || explain_both(evidence, views)))
		return;
	for (unsigned i = 0; i < views->n; i++)
		explain_metric(evidence, &views->view[i]);
}

/* --- where the sums are right --- */

static void check_channels(const struct evidence *evidence, const struct metric_view *view)
{
	struct channels channels;

	channels_fit(evidence, view->series, &channels);
	if (channels_are_one(&channels, evidence, view->metric) ||
		channels_differ(&channels, view->metric, view->wanted) ||
		channels_are_uneven(&channels, view->metric, view->shown.scale))
		return;
	/* With this many channels, one of them moves the sum by less than the tolerance. */
	if (channels.n_active * view->shown.tolerance >= 1)
		channels_remark_on_silent(&channels, view->metric);
}

static void check_boxes(const struct evidence *evidence, const struct tier_view *views)
{
	struct channels reads, writes;

	channels_fit(evidence, views->view[0].series, &reads);
	channels_fit(evidence, views->view[1].series, &writes);
	channels_are_apart(&reads, &writes);
}

void causes_check_channels(const struct evidence *evidence, const struct tier_view *views)
{
	if (views->n == 2)
		check_boxes(evidence, views);
	for (unsigned i = 0; i < views->n; i++)
		check_channels(evidence, &views->view[i]);
}
