/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge/causes.h"

#include "client/command/validate/judge/channels.h"

/* How much prefetchers may add to the reads. */
static const double OVERFETCH_MOST = 0.15;
/* How much directories in memory, or the partly written lines of others, may add to the other
 * metric. */
static const double BESIDE_MOST = 0.1;

/* --- one metric --- */

static bool is_whole(const struct shown *shown)
{
	return shape_is_near(shown->scale, 1, shown->tolerance);
}

static void explain_scale(const struct evidence *evidence, const struct metric_view *view,
	const char *metrics, struct findings *findings)
{
	double scale = view->shown.scale;
	struct channels channels;

	channels_fit(evidence, view->series, &channels);
	if (!channels_explain(&channels, metrics, scale, findings))
		findings_add_factor(findings,
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

static void explain_mixed(
	const struct evidence *evidence, const struct metric_view *view, struct findings *findings)
{
	double reads = shape_rounded(view->shown.fit.reads);
	double writes = shape_rounded(view->shown.fit.writes);
	struct channels channels;

	channels_fit(evidence, view->series, &channels);
	if (channels_differ(&channels, view->metric, view->wanted, findings))
		return;
	if (is_right_with_some(view))
		findings_add(findings, OUTCOME_UNCLEAR,
			"%s shows %.2f of the reads and %.2f of the writes: directories in memory "
			"may add as much.",
			view->metric, reads, writes);
	else
		findings_add(findings, OUTCOME_DEFECT,
			"%s shows %.2f of the reads and %.2f of the writes, which no known defect "
			"does.",
			view->metric, reads, writes);
}

static void explain_metric(
	const struct evidence *evidence, const struct metric_view *view, struct findings *findings)
{
	const struct shown *shown = &view->shown;

	if (shape_is_right(shown, view->wanted))
		return;
	if (shown->shape == SHAPE_MIXED)
		explain_mixed(evidence, view, findings);
	else if (shown->shape != view->wanted)
		findings_add(findings, OUTCOME_DEFECT, "%s shows %s in place of %s.", view->metric,
			shape_words(shown->shape), shape_words(view->wanted));
	if (shown->shape != SHAPE_MIXED && shown->shape != SHAPE_NOTHING && !is_whole(shown))
		explain_scale(evidence, view, view->metric, findings);
}

/* --- both metrics --- */

/* Near each other, and both right or both wrong. */
static bool have_same_scale(const struct shown *read, const struct shown *write)
{
	return shape_is_near(read->scale / write->scale, 1, read->tolerance + write->tolerance) &&
	       is_whole(read) == is_whole(write);
}

/* Explains defects that both metrics share. */
static bool explain_both(
	const struct evidence *evidence, const struct tier_view *views, struct findings *findings)
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
			findings_add(findings, OUTCOME_DEFECT, "%s", patterns[i].sentence);
		if (!is_whole(read))
			explain_scale(evidence, &views->view[0], metrics, findings);
		return true;
	}
	return false;
}

/* Somewhat too many reads, evenly over all channels, while the writes are right. */
static bool is_overfetch(
	const struct evidence *evidence, const struct tier_view *views, struct findings *findings)
{
	const struct metric_view *read = &views->view[0], *write = &views->view[1];
	double extra = read->shown.scale - 1;
	struct findings none = { 0 };
	struct channels channels;

	if (!shape_is_right(&write->shown, SHAPE_WRITES) || read->shown.shape != SHAPE_READS ||
		is_whole(&read->shown) || extra < 0 || extra > OVERFETCH_MOST)
		return false;
	channels_fit(evidence, read->series, &channels);
	if (channels_are_uneven(&channels, read->metric, read->shown.scale, &none))
		return false;
	findings_add(findings, OUTCOME_UNCLEAR,
		"%s shows %.0f %% more reads than the kernels need, and the writes are right: "
		"prefetchers may fetch lines that nobody uses. Switch them off to know.",
		read->metric, 100 * extra);
	return true;
}

void causes_explain(
	const struct evidence *evidence, const struct tier_view *views, struct findings *findings)
{
	if (views->n == 2 && (is_overfetch(evidence, views, findings) ||
				     explain_both(evidence, views, findings)))
		return;
	for (unsigned i = 0; i < views->n; i++)
		explain_metric(evidence, &views->view[i], findings);
}

/* --- where the sums are right --- */

static void check_channels(
	const struct evidence *evidence, const struct metric_view *view, struct findings *findings)
{
	struct channels channels;

	channels_fit(evidence, view->series, &channels);
	if (channels_differ(&channels, view->metric, view->wanted, findings) ||
		channels_are_uneven(&channels, view->metric, view->shown.scale, findings))
		return;
	/* With this many channels, one of them moves the sum by less than the tolerance. */
	if (channels.n_active * view->shown.tolerance >= 1)
		channels_remark_on_silent(&channels, view->metric, findings);
}

void causes_check_channels(
	const struct evidence *evidence, const struct tier_view *views, struct findings *findings)
{
	for (unsigned i = 0; i < views->n; i++)
		check_channels(evidence, &views->view[i], findings);
}
