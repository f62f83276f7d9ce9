/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/validate/verdict.h"

#include <math.h>
#include <string.h>

#include "client/validate/causes.h"
#include "client/validate/elsewhere.h"

enum { REPETITIONS_LEAST = 3 };

/* What others may move, in the window of a kernel, before its result means little. */
static const double BACKGROUND_MOST = 0.05;
/* What another counter, or a kernel beside the fit, may show without being mentioned. */
static const double MENTIONED = 0.05;
/* What stores past the caches may read of what they write. */
static const double NT_READS_MOST = 0.25;

/* --- may anything be said? --- */

static bool is_absent(
	const struct evidence *evidence, const char *metric, struct findings *findings)
{
	const struct meter *meter = evidence->meter;
	uint32_t series = meter_find(meter, evidence->socket, metric);

	if (series == METER_NONE)
		findings_add(findings, OUTCOME_ABSENT, "Platform %s has no metric %s.",
			meter->machine.platform, metric);
	else if (meter->series[series].quality & UNCORE_ABSENT)
		findings_add(findings, OUTCOME_ABSENT, "%s is absent: %s", metric,
			uncore_why(meter->handle, meter->series[series].why));
	else
		return false;
	return true;
}

/* What uncored itself says of the metric: then it is clear why the numbers are not right. */
static bool is_flagged(
	const struct evidence *evidence, const char *metric, struct findings *findings)
{
	static const uint32_t FLAGS =
		UNCORE_PARTIAL | UNCORE_FROZEN | UNCORE_RESET | UNCORE_ESTIMATED;
	const struct meter *meter = evidence->meter;
	uint32_t quality = meter->series[meter_find(meter, evidence->socket, metric)].quality;
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

static bool are_flagged(const struct evidence *evidence, struct findings *findings)
{
	bool read = is_flagged(evidence, evidence->read_metric, findings);

	return is_flagged(evidence, evidence->write_metric, findings) || read;
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

/* What @kernel shows of itself beyond what the other kernels let expect, as a share of what it
 * moves. */
static double surplus(const struct measured *kernel, uint32_t series, const struct shown *expected)
{
	double predicted = expected->fit.reads * kernel->predicted.read +
			   expected->fit.writes * kernel->predicted.written;

	return (kernel->bytes[series] - predicted) / measured_total(kernel);
}

/*
 * Says what a kernel beside the first two shows that these do not let expect. Reads are known:
 * stores past the caches read on a full node of some CPUs (16 to 18 % in the CloverLeaf paper).
 */
static bool is_misfit(
	const struct evidence *base, const struct measured *kernel, struct findings *findings)
{
	struct pair_shown pair = evidence_pair(base, base->socket);
	double scale = fmax(pair.read.scale, pair.write.scale);
	double reads = surplus(kernel, pair.read_series, &pair.read) / scale;
	double writes = surplus(kernel, pair.write_series, &pair.write) / scale;
	double tolerance =
		MENTIONED + pair.read.tolerance + fabs(kernel->background) + 3 * kernel->error;

	if (fabs(reads) <= tolerance && fabs(writes) <= tolerance)
		return false;
	if (reads > 0 && reads <= NT_READS_MOST && fabs(writes) <= tolerance)
		findings_add(findings, OUTCOME_RIGHT,
			"Remark: %s also reads %.2f of what it writes. The verdict leaves it out.",
			kernel->kernel->name, reads);
	else
		findings_add(findings, OUTCOME_DEFECT,
			"%s does not fit the other kernels: of what it moves, %s shows %+.2f and "
			"%s %+.2f too much.",
			kernel->kernel->name, base->read_metric, reads, base->write_metric, writes);
	return true;
}

/* Copies to @ret those of the kernels that fit; it has room for all. */
static unsigned leave_out_misfits(
	const struct evidence *evidence, const struct measured *ret[], struct findings *findings)
{
	struct evidence base = *evidence;
	struct pair_shown pair;
	unsigned n = 0;

	if (base.n_kernels > BASE_KERNELS)
		base.n_kernels = BASE_KERNELS;
	pair = evidence_pair(&base, base.socket);
	for (unsigned i = 0; i < evidence->n_kernels; i++)
		if (i < BASE_KERNELS || evidence_is_empty(&pair) ||
			!is_misfit(&base, evidence->kernels[i], findings))
			ret[n++] = evidence->kernels[i];
	return n;
}

/* --- what is worth a remark --- */

/* The kernels that claim no lines. */
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

static bool is_a_sum(const char *metric)
{
	return strstr(metric, ".total");
}

/* What @metric should show of the kernels: metrics of other memory, and of claimed lines, nothing;
 * a second way to count the same, the same. */
static enum shape expected_of(const struct evidence *evidence, const char *metric)
{
	static const char check[] = "check.";

	if (strncmp(metric, check, sizeof check - 1) == 0)
		metric += sizeof check - 1;
	if (!strcmp(metric, evidence->read_metric))
		return SHAPE_READS;
	return strcmp(metric, evidence->write_metric) ? SHAPE_NOTHING : SHAPE_WRITES;
}

static void remark_on(const struct evidence *evidence, uint32_t series, struct findings *findings)
{
	const char *name = evidence->meter->series[series].name;
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
	const struct meter *meter = evidence->meter;

	for (uint32_t i = 0; i < meter->n_series && !meter->series[i].is_channel; i++) {
		const struct meter_series *series = &meter->series[i];

		if (series->socket == evidence->socket && !(series->quality & UNCORE_ABSENT) &&
			strcmp(series->name, evidence->read_metric) &&
			strcmp(series->name, evidence->write_metric) && !is_a_sum(series->name))
			remark_on(evidence, i, findings);
	}
}

static void judge(const struct evidence *evidence, struct findings *ret)
{
	const struct measured *kernels[EVIDENCE_KERNELS_MAX];
	const struct evidence rest = without_claims(evidence, kernels);
	struct pair_shown here = evidence_pair(evidence, evidence->socket);
	double elsewhere;

	if (evidence_is_empty(&here)) {
		elsewhere_entirely(evidence, ret);
		return;
	}
	elsewhere = elsewhere_in_part(evidence, ret);
	/* What is missing here and shows there needs no other cause. */
	if (elsewhere == 0 || !shape_is_near(here.read.scale + elsewhere, 1, MENTIONED) ||
		!shape_is_near(here.write.scale + elsewhere, 1, MENTIONED))
		causes_explain(evidence, &here, ret);
	if (ret->outcome == OUTCOME_RIGHT)
		causes_check_channels(evidence, &here, ret);
	remark_on_others(&rest, ret);
}

void verdict(const struct evidence *evidence, struct findings *ret)
{
	const struct measured *kernels[EVIDENCE_KERNELS_MAX];
	struct evidence fitting = *evidence;
	bool absent = is_absent(evidence, evidence->read_metric, ret);

	absent |= is_absent(evidence, evidence->write_metric, ret);
	if (absent || are_flagged(evidence, ret) || are_noisy(evidence, ret))
		return;
	fitting.kernels = kernels;
	fitting.n_kernels = leave_out_misfits(evidence, kernels, ret);
	/* Counters that are no sum of reads and writes have no cause that is known here. */
	if (ret->outcome != OUTCOME_DEFECT)
		judge(&fitting, ret);
}

struct fit verdict_fit(const struct evidence *evidence, const char *metric)
{
	return evidence_show(evidence, meter_find(evidence->meter, evidence->socket, metric)).fit;
}
