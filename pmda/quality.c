/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/quality.h"

#include <stdio.h>
#include <strings.h>

uint32_t quality_of(const struct uncore_sample *sample)
{
	uint32_t quality = 0;

	for (uint32_t i = 0; i < sample->n_values; i++)
		if (!(sample->values[i].quality & UNCORE_ABSENT))
			quality |= sample->values[i].quality;
	return quality;
}

uint32_t quality_flagged(const struct uncore_sample *sample, uint32_t flag)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sample->n_values; i++)
		if (!(sample->values[i].quality & UNCORE_ABSENT))
			n += (sample->values[i].quality & flag) != 0;
	return n;
}

uint64_t quality_raised(const struct uncore_sample *sample, uint32_t flag)
{
	int bit = ffs((int)flag) - 1;
	uint64_t last = 0;

	for (uint32_t i = 0; i < sample->n_values; i++)
		if (sample->values[i].raised[bit] > last)
			last = sample->values[i].raised[bit];
	return last;
}

static void print_value(const struct uncore *handle, const char *metric,
	const struct uncore_value *value, FILE *out)
{
	char words[128];

	if (!value->quality)
		return;
	uncore_quality_words(value->quality, words, sizeof words);
	fprintf(out, "%s%s: %s", ftell(out) ? "; " : "", metric, words);
	if (value->quality & UNCORE_ABSENT)
		fprintf(out, " (%s)", uncore_why(handle, value->why));
}

const char *quality_words(const struct uncore *handle, const struct uncore_sample *sample)
{
	static char text[UNCORE_METRICS_MAX * (UNCORE_NAME_MAX + 128 + UNCORE_TEXT_MAX)];
	FILE *out = fmemopen(text, sizeof text, "w");

	if (!out)
		return NULL;
	for (uint32_t i = 0; i < sample->n_values; i++)
		print_value(handle, uncore_metric_name(handle, i), &sample->values[i], out);
	fclose(out);
	return text;
}
