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
	qsort(scales, n, sizeof *scales, statistics_compare);
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

	*ret = (struct channels){ .findings = evidence->findings };
	for (uint32_t i = 0; i < probe->n_series && ret->n < CHANNELS_MAX; i++) {
		if (!probe_is_channel_of(probe, i, metric))
			continue;
		/* The share follows below, once the median is known. */
		ret->channel[ret->n++] = (struct channel_shown){ probe->series[i].name, i,
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
	const struct shown *shown = &channel->shown;

	return is_active(channel) &&
	       fabs(channel->share - 1) > EVEN + SHAPE_ERRORS * shown->fit.error / shown->scale;
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

/* The power of two, other than 1, among @scales; 0: none. Others are too far away to be there, too.
 */
static double power_of_two(const struct scales *scales)
{
	const double power = exp2(ceil(log2(scales->least / (1 + 2 * WHOLE))));

	return scales->least > 0 && power != 1 && power <= scales->most * (1 + 2 * WHOLE) ? power
											  : 0;
}

static void explain_power(const struct channels *channels, const char *metrics, double power)
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
	findings_add(channels->findings, OUTCOME_FACTOR,
		"%s: a factor of %g. One count is worth %g times the bytes that uncored takes it "
		"for%s.",
		metrics, power, 1 / power, other);
}

static void explain_missing(const struct channels *channels, const char *metrics, unsigned n_real)
{
	char silent[NAMES_BYTES];
	unsigned n_missing = n_real - channels->n_active;

	if (name_those(channels, is_silent, silent))
		findings_add(channels->findings, OUTCOME_DEFECT,
			"%s: %u of %u channels count nothing. Boxes that count nothing: %s.",
			metrics, n_missing, n_real, silent);
	else
		findings_add(channels->findings, OUTCOME_DEFECT,
			"%s: %u of %u channels have no counter box.", metrics, n_missing, n_real);
}

/* How many channels there may really be. */
static void count_real(
	const struct channels *channels, const struct scales *scales, double *least, double *most)
{
	const double tolerance = fmin(WHOLE, WHOLE_OF_MANY / channels->n_active);

	*least = ceil(channels->n_active / scales->most * (1 - tolerance));
	*most = floor(channels->n_active / scales->least * (1 + tolerance));
}

/* Is another number of channels as likely as @power? Many channels without a box are not. */
static bool may_be_channels(
	const struct channels *channels, const struct scales *scales, double power)
{
	double least, most;

	if (scales->least == scales->most || !channels->n_active)
		return false;
	count_real(channels, scales, &least, &most);
	for (double n = fmax(1, least); n <= fmin(most, channels->n + 1); n++)
		if (n * power != channels->n_active)
			return true;
	return false;
}

/* 0: no number fits, or several do. */
static unsigned find_real(const struct channels *channels, const struct scales *scales)
{
	double least, most;

	count_real(channels, scales, &least, &most);
	if (least == most)
		return (unsigned)most;
	/* Where boxes count nothing, these may be the others. */
	return channels->n > channels->n_active && channels->n >= least && channels->n <= most
		       ? channels->n
		       : 0;
}

/* All channels show the same: finds how many there must really be. */
static bool explain_even(
	const struct channels *channels, const char *metrics, const struct scales *scales)
{
	const unsigned n_real = find_real(channels, scales);

	if (n_real < 1 || n_real == channels->n_active ||
		(n_real > 2 * channels->n_active && n_real > channels->n))
		return false;
	if (n_real > channels->n_active)
		explain_missing(channels, metrics, n_real);
	else
		findings_add(channels->findings, OUTCOME_DEFECT,
			"%s: boxes are counted twice. %u boxes count, but the traffic is that of "
			"%u channels.",
			metrics, channels->n_active, n_real);
	return true;
}

bool channels_are_uneven(const struct channels *channels, const char *metrics, double scale)
{
	char names[NAMES_BYTES];
	unsigned n_double = name_those(channels, is_double, names);
	unsigned n = name_those(channels, is_uneven, names);
	double with_doubles = 1 + (double)n_double / (channels->n_active ? channels->n_active : 1);

	if (!n)
		return false;
	if (n == n_double && fabs(scale / with_doubles - 1) <= EVEN / 2)
		findings_add(channels->findings, OUTCOME_DEFECT,
			"%s: boxes are counted twice. Twice as much as the others show: %s.",
			metrics, names);
	else
		findings_add(channels->findings, OUTCOME_DEFECT,
			"%s: not every channel shows the same. These differ: %s.", metrics, names);
	return true;
}

void channels_remark_on_silent(const struct channels *channels, const char *metric)
{
	char silent[NAMES_BYTES];

	if (name_those(channels, is_silent, silent))
		findings_add(channels->findings, OUTCOME_RIGHT,
			"Remark: these boxes of %s count nothing: %s. Among so many channels the "
			"sum does not show whether memory is behind them.",
			metric, silent);
}

bool channels_explain(
	const struct channels *channels, const char *metrics, const struct scales *scales)
{
	double power = power_of_two(scales);

	if (channels_are_uneven(channels, metrics, scales->shown))
		return true;
	if (power == 0)
		return channels->n_active && explain_even(channels, metrics, scales);
	if (may_be_channels(channels, scales, power))
		return false;
	explain_power(channels, metrics, power);
	return true;
}

/* Two channels of a memory controller differ by some lines of millions. */
static bool show_the_same(const struct evidence *evidence, uint32_t one, uint32_t other)
{
	for (unsigned k = 0; k < evidence->n_kernels; k++) {
		const double *bytes = evidence->kernels[k]->bytes;

		if (bytes[one] != bytes[other])
			return false;
	}
	return true;
}

static bool has_twin(
	const struct channels *channels, const struct evidence *evidence, unsigned number)
{
	const uint32_t series = channels->channel[number].series;

	for (unsigned i = 0; i < channels->n; i++)
		if (i != number && show_the_same(evidence, series, channels->channel[i].series))
			return true;
	return false;
}

static bool any(const struct channel_shown *channel)
{
	return channel != NULL;
}

bool channels_are_one(
	const struct channels *channels, const struct evidence *evidence, const char *metric)
{
	struct channels same = { .n = 0 };
	char names[NAMES_BYTES];

	for (unsigned i = 0; evidence->is_exact && i < channels->n; i++)
		if (is_active(&channels->channel[i]) && has_twin(channels, evidence, i))
			same.channel[same.n++] = channels->channel[i];
	if (!name_those(&same, any, names))
		return false;
	findings_add(channels->findings, OUTCOME_DEFECT,
		"%s: boxes that show the same to the byte are one channel: %s. As the sum is "
		"right, other channels are not counted.",
		metric, names);
	return true;
}

static bool counts(const struct channels *channels, const char *name)
{
	for (unsigned i = 0; i < channels->n; i++)
		if (strcmp(channels->channel[i].name, name) == 0)
			return is_active(&channels->channel[i]);
	return true; /* another name says nothing */
}

static void add_lonely(
	struct channels *ret, const struct channels *channels, const struct channels *others)
{
	for (unsigned i = 0; i < channels->n && ret->n < CHANNELS_MAX; i++)
		if (is_active(&channels->channel[i]) && !counts(others, channels->channel[i].name))
			ret->channel[ret->n++] = channels->channel[i];
}

bool channels_are_apart(const struct channels *reads, const struct channels *writes)
{
	struct channels lonely = { .n = 0 };
	char names[NAMES_BYTES];

	add_lonely(&lonely, reads, writes);
	add_lonely(&lonely, writes, reads);
	if (!name_those(&lonely, any, names))
		return false;
	findings_add(reads->findings, OUTCOME_DEFECT,
		"Reads and writes are counted at different memory controllers. Boxes that show "
		"only one of them: %s.",
		names);
	return true;
}

bool channels_differ(const struct channels *channels, const char *metric, enum shape wanted)
{
	bool differ = false;

	for (unsigned i = 0; i < channels->n; i++) {
		const struct channel_shown *channel = &channels->channel[i];

		if (channel->shown.shape == wanted || channel->shown.shape == SHAPE_MIXED ||
			channel->shown.shape == SHAPE_NOTHING)
			continue;
		differ = true;
		findings_add(channels->findings, OUTCOME_DEFECT, "%s: %s shows %s in place of %s.",
			metric, channel->name, shape_words(channel->shown.shape),
			shape_words(wanted));
	}
	return differ;
}
