/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/validate/causes.h"

#include <stdio.h>

#include "client/validate/channels.h"

enum { METRICS_BYTES = 2 * UNCORE_NAME_MAX + 8 };

/* Reads that prefetchers may add. */
static const double OVERFETCH_MOST = 0.15;
/* What directories in memory, or the partly written lines of others, may add to the other metric.
 */
static const double BESIDE_MOST = 0.1;

struct metric_role {
	const char *name;
	enum shape wanted;
	uint32_t series;
	const struct shown *shown;
};

static void explain_scale(const struct evidence *evidence, const struct metric_role *role,
	const char *metrics, struct findings *findings)
{
	double scale = role->shown->scale;
	struct channels channels;

	channels_fit(evidence, role->series, &channels);
	if (!channels_explain(&channels, metrics, scale, findings))
		findings_add(findings, OUTCOME_DEFECT,
			"%s: a factor of %.3f, which no known defect has. One count is worth %.3f "
			"times the bytes that uncored takes it for.",
			metrics, scale, 1 / scale);
}

/* Does the metric show all that it should, and a little of the rest? */
static bool is_right_with_some(const struct metric_role *role)
{
	const struct fit *fit = &role->shown->fit;
	double all = role->wanted == SHAPE_READS ? fit->reads : fit->writes;
	double rest = role->wanted == SHAPE_READS ? fit->writes : fit->reads;

	return shape_is_near(all, 1, role->shown->tolerance) && rest > 0 && rest <= BESIDE_MOST;
}

static void explain_mixed(
	const struct evidence *evidence, const struct metric_role *role, struct findings *findings)
{
	double reads = shape_rounded(role->shown->fit.reads);
	double writes = shape_rounded(role->shown->fit.writes);
	struct channels channels;

	channels_fit(evidence, role->series, &channels);
	if (channels_differ(&channels, role->name, role->wanted, findings))
		return;
	if (is_right_with_some(role))
		findings_add(findings, OUTCOME_UNCLEAR,
			"%s shows %.2f of the reads and %.2f of the writes: directories in memory "
			"may add as much.",
			role->name, reads, writes);
	else
		findings_add(findings, OUTCOME_DEFECT,
			"%s shows %.2f of the reads and %.2f of the writes, which no known defect "
			"does.",
			role->name, reads, writes);
}

/* One metric, for itself. */
static void explain_metric(
	const struct evidence *evidence, const struct metric_role *role, struct findings *findings)
{
	const struct shown *shown = role->shown;

	if (shape_is_right(shown, role->wanted))
		return;
	if (shown->shape == SHAPE_MIXED)
		explain_mixed(evidence, role, findings);
	else if (shown->shape != role->wanted)
		findings_add(findings, OUTCOME_DEFECT, "%s shows %s in place of %s.", role->name,
			shape_words(shown->shape), shape_words(role->wanted));
	if (shown->shape != SHAPE_MIXED && shown->shape != SHAPE_NOTHING &&
		!shape_is_near(shown->scale, 1, shown->tolerance))
		explain_scale(evidence, role, role->name, findings);
}

static bool same_scale(const struct pair_shown *pair)
{
	return shape_is_near(pair->read.scale / pair->write.scale, 1,
		pair->read.tolerance + pair->write.tolerance);
}

/* Defects that both metrics have together. */
static bool explain_both(
	const struct evidence *evidence, const struct pair_shown *pair, struct findings *findings)
{
	static const struct {
		enum shape read, write;
		const char *sentence; /* NULL: no defect but the scale */
	} patterns[] = {
		{ SHAPE_WRITES, SHAPE_READS, "Reads and writes are swapped." },
		{ SHAPE_BOTH, SHAPE_BOTH, "Both metrics count reads and writes together." },
		{ SHAPE_READS, SHAPE_WRITES, NULL },
	};
	char metrics[METRICS_BYTES];
	const struct metric_role role = { evidence->read_metric, SHAPE_READS, pair->read_series,
		&pair->read };

	if (!same_scale(pair))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (pair->read.shape != patterns[i].read || pair->write.shape != patterns[i].write)
			continue;
		snprintf(metrics, sizeof metrics, "%s and %s", evidence->read_metric,
			evidence->write_metric);
		if (shape_is_near(pair->read.scale, 1, pair->read.tolerance) !=
			shape_is_near(pair->write.scale, 1, pair->write.tolerance))
			return false; /* near each other, but only one of them is right */
		if (patterns[i].sentence)
			findings_add(findings, OUTCOME_DEFECT, "%s", patterns[i].sentence);
		if (!shape_is_near(pair->read.scale, 1, pair->read.tolerance))
			explain_scale(evidence, &role, metrics, findings);
		return true;
	}
	return false;
}

/* Somewhat too many reads, evenly over all channels, while the writes are right. */
static bool is_overfetch(
	const struct evidence *evidence, const struct pair_shown *pair, struct findings *findings)
{
	double extra = pair->read.scale - 1;
	struct findings none = { 0 };
	struct channels channels;

	if (!shape_is_right(&pair->write, SHAPE_WRITES) || pair->read.shape != SHAPE_READS ||
		shape_is_right(&pair->read, SHAPE_READS) || extra < 0 || extra > OVERFETCH_MOST)
		return false;
	channels_fit(evidence, pair->read_series, &channels);
	if (channels_are_uneven(&channels, evidence->read_metric, pair->read.scale, &none))
		return false;
	findings_add(findings, OUTCOME_UNCLEAR,
		"%s shows %.0f %% more reads than the kernels need, and the writes are right: "
		"prefetchers may fetch lines that nobody uses. Switch them off to know.",
		evidence->read_metric, 100 * extra);
	return true;
}

enum { ROLES = 2 };

static void roles_of(const struct evidence *evidence, const struct pair_shown *pair,
	struct metric_role ret[ROLES])
{
	ret[0] = (struct metric_role){ evidence->read_metric, SHAPE_READS, pair->read_series,
		&pair->read };
	ret[1] = (struct metric_role){ evidence->write_metric, SHAPE_WRITES, pair->write_series,
		&pair->write };
}

void causes_explain(
	const struct evidence *evidence, const struct pair_shown *pair, struct findings *findings)
{
	struct metric_role roles[ROLES];

	if (is_overfetch(evidence, pair, findings) || explain_both(evidence, pair, findings))
		return;
	roles_of(evidence, pair, roles);
	for (unsigned i = 0; i < ROLES; i++)
		explain_metric(evidence, &roles[i], findings);
}

/* Too many channels for one to move the sum by more than it may be off. */
static void remark_on_silent(
	const struct channels *channels, const struct metric_role *role, struct findings *findings)
{
	if (channels->n_active * role->shown->tolerance >= 1)
		channels_remark_on_silent(channels, role->name, findings);
}

void causes_check_channels(
	const struct evidence *evidence, const struct pair_shown *pair, struct findings *findings)
{
	struct metric_role roles[ROLES];

	roles_of(evidence, pair, roles);
	for (unsigned i = 0; i < ROLES; i++) {
		const struct metric_role *role = &roles[i];
		struct channels channels;

		channels_fit(evidence, role->series, &channels);
		if (!channels_differ(&channels, role->name, role->wanted, findings) &&
			!channels_are_uneven(&channels, role->name, role->shown->scale, findings))
			remark_on_silent(&channels, role, findings);
	}
}
