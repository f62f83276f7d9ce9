/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge/channels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_BYTES = 200, MORE_BYTES = 24 /* ", " and " and 64 more" */ };

/* A channel below this counts nothing: page tables and the like reach a few lines of each. */
static const double SILENT = 0.05;
/* Lines are interleaved, but channels still differ a little: the kernels' arrays begin and end
 * somewhere. */
static const double EVEN = 0.1;
/* How near a number of channels must be to a whole number: as a share, and closer than that share
 * among many channels. */
static const double WHOLE = 0.02, WHOLE_OF_MANY = 0.3;

/* --- fitting --- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

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
	if (n == 0)
		return 0;
	qsort(scales, n, sizeof *scales, compare);
	return scales[(n - 1) / 2];
}

static bool is_active(const struct channel_shown *channel)
{
	return channel->share > SILENT;
}

void channels_fit(const struct evidence *evidence, uint32_t metric, struct channels *ret)
{
	const struct probe *probe = evidence->probe;
	double middle;

	*ret = (struct channels){ 0 };
	for (uint32_t i = 0; i < probe->n_series && ret->n < CHANNELS_MAX; i++) {
		if (!probe_is_channel_of(probe, i, metric))
			continue;
		/* The share follows below, once the median is known. */
		ret->channel[ret->n++] = (struct channel_shown){ probe->series[i].name,
			evidence_show(evidence, i), 0 };
	}
	middle = middle_scale(ret);
	for (unsigned i = 0; i < ret->n && middle > 0; i++) {
		ret->channel[i].share = ret->channel[i].shown.scale / middle;
		ret->n_active += is_active(&ret->channel[i]);
	}
}

/* --- names --- */

static bool is_silent(const struct channel_shown *channel)
{
	return !is_active(channel);
}

static bool is_double(const struct channel_shown *channel)
{
	return fabs(channel->share - 2) <= 2 * EVEN;
}

static bool is_uneven(const struct channel_shown *channel)
{
	return is_active(channel) && fabs(channel->share - 1) > EVEN;
}

/* Writes the names of the @wanted channels, "imc3, imc4"; returns how many there are. */
static unsigned name_those(const struct channels *channels,
	bool (*wanted)(const struct channel_shown *channel), char ret[NAMES_BYTES])
{
	unsigned n = 0, n_named = 0;
	size_t used = 0;

	*ret = '\0';
	for (unsigned i = 0; i < channels->n; i++) {
		const char *name = channels->channel[i].name;

		if (!wanted(&channels->channel[i]))
			continue;
		n++;
		if (n_named + 1 < n || used + strlen(name) + MORE_BYTES > NAMES_BYTES)
			continue;
		used += (size_t)snprintf(
			ret + used, NAMES_BYTES - used, "%s%s", n_named ? ", " : "", name);
		n_named++;
	}
	if (n_named < n)
		snprintf(ret + used, NAMES_BYTES - used, " and %u more", n - n_named);
	return n;
}

/* --- causes --- */

/* The power of two, other than 1, that @scale equals within the tolerance; 0: none. */
static double power_of_two(double scale)
{
	double power = exp2(round(log2(scale)));

	return scale > 0 && power != 1 && fabs(scale / power - 1) <= 2 * WHOLE ? power : 0;
}

static void explain_power(const struct channels *channels, const char *metrics, double power,
	struct findings *findings)
{
	double n_real = channels->n_active / power;
	char other[128] = "";

	if (power == 2)
		snprintf(other, sizeof other, ", or each box is opened twice");
	else if (power < 1 && n_real <= channels->n)
		snprintf(other, sizeof other, ", or %.0f of %.0f channels count nothing",
			n_real - channels->n_active, n_real);
	else if (power == 0.5)
		snprintf(other, sizeof other, ", or half of the channels have no counter box");
	findings_add_factor(findings,
		"%s: a factor of %g. One count is worth %g times the bytes that uncored takes it "
		"for%s.",
		metrics, power, 1 / power, other);
}

static void explain_missing(const struct channels *channels, const char *metrics, unsigned n_real,
	struct findings *findings)
{
	char silent[NAMES_BYTES];
	unsigned n_missing = n_real - channels->n_active;

	if (name_those(channels, is_silent, silent))
		findings_add(findings, OUTCOME_DEFECT,
			"%s: %u of %u channels count nothing. Boxes that count nothing: %s.",
			metrics, n_missing, n_real, silent);
	else
		findings_add(findings, OUTCOME_DEFECT, "%s: %u of %u channels have no counter box.",
			metrics, n_missing, n_real);
}

/* All channels show the same: finds how many there must really be. */
static bool explain_even(const struct channels *channels, const char *metrics, double scale,
	struct findings *findings)
{
	double real = channels->n_active / scale;
	double tolerance = fmin(WHOLE, WHOLE_OF_MANY / channels->n_active);
	unsigned n_real = (unsigned)round(real);

	if (n_real < 1 || n_real == channels->n_active || fabs(real / n_real - 1) > tolerance ||
		(n_real > 2 * channels->n_active && n_real > channels->n))
		return false;
	if (n_real > channels->n_active)
		explain_missing(channels, metrics, n_real, findings);
	else
		findings_add(findings, OUTCOME_DEFECT,
			"%s: boxes are counted twice. %u boxes count, but the traffic is that of "
			"%u channels.",
			metrics, channels->n_active, n_real);
	return true;
}

bool channels_are_uneven(const struct channels *channels, const char *metrics, double scale,
	struct findings *findings)
{
	char names[NAMES_BYTES];
	unsigned n_double = name_those(channels, is_double, names);
	unsigned n = name_those(channels, is_uneven, names);
	double with_doubles = 1 + (double)n_double / (channels->n_active ? channels->n_active : 1);

	if (!n)
		return false;
	if (n == n_double && fabs(scale / with_doubles - 1) <= EVEN / 2)
		findings_add(findings, OUTCOME_DEFECT,
			"%s: boxes are counted twice. Twice as much as the others show: %s.",
			metrics, names);
	else
		findings_add(findings, OUTCOME_DEFECT,
			"%s: not every channel shows the same. These differ: %s.", metrics, names);
	return true;
}

void channels_remark_on_silent(
	const struct channels *channels, const char *metric, struct findings *findings)
{
	char silent[NAMES_BYTES];

	if (name_those(channels, is_silent, silent))
		findings_add(findings, OUTCOME_RIGHT,
			"Remark: these boxes of %s count nothing: %s. Among so many channels the "
			"sum does not show whether memory is behind them.",
			metric, silent);
}

bool channels_explain(const struct channels *channels, const char *metrics, double scale,
	struct findings *findings)
{
	double power = power_of_two(scale);

	if (channels_are_uneven(channels, metrics, scale, findings))
		return true;
	if (power > 0)
		explain_power(channels, metrics, power, findings);
	else if (!channels->n_active || !explain_even(channels, metrics, scale, findings))
		return false;
	return true;
}

bool channels_differ(const struct channels *channels, const char *metric, enum shape wanted,
	struct findings *findings)
{
	bool differ = false;

	for (unsigned i = 0; i < channels->n; i++) {
		const struct channel_shown *channel = &channels->channel[i];

		if (channel->shown.shape == wanted || channel->shown.shape == SHAPE_MIXED ||
			channel->shown.shape == SHAPE_NOTHING)
			continue;
		differ = true;
		findings_add(findings, OUTCOME_DEFECT, "%s: %s shows %s in place of %s.", metric,
			channel->name, shape_words(channel->shown.shape), shape_words(wanted));
	}
	return differ;
}
