/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/libuncore/uncore.h"
#include "client/report/format.h"

static char separator_of(const struct csv *csv)
{
	return csv->separator ? csv->separator : ',';
}

static FILE *begin_field(struct csv *csv)
{
	if (csv->follows)
		fputc(separator_of(csv), csv->out);
	csv->follows = true;
	return csv->out;
}

void csv_text(struct csv *csv, const char *text)
{
	const char special[] = { separator_of(csv), '"', '\r', '\n', '\0' };
	FILE *out = begin_field(csv);

	if (!text[strcspn(text, special)]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

void csv_number(struct csv *csv, uint64_t number)
{
	fprintf(begin_field(csv), "%" PRIu64, number);
}

void csv_known(struct csv *csv, bool is_known, int64_t number)
{
	FILE *out = begin_field(csv);

	if (is_known)
		fprintf(out, "%" PRId64, number);
}

void csv_rounded(struct csv *csv, double number)
{
	FILE *out = begin_field(csv);

	if (!isnan(number))
		fprintf(out, "%.0f", number);
}

void csv_real(struct csv *csv, double number)
{
	fprintf(begin_field(csv), "%.17g", number);
}

void csv_empty(struct csv *csv, unsigned n_fields)
{
	while (n_fields--)
		begin_field(csv);
}

void csv_end(struct csv *csv)
{
	fputc('\n', csv->out);
	csv->follows = false;
}

void csv_quality(struct csv *csv, uint32_t quality)
{
	char words[FORMAT_QUALITY_MAX];

	uncore_quality_words(
		quality & UNCORE_ABSENT ? UNCORE_ABSENT : quality, words, sizeof words);
	for (char *c = words; *c; c++)
		if (*c == ',')
			*c = ' ';
	csv_text(csv, words);
}

void csv_absent(struct csv *csv, uint32_t quality, const char *why)
{
	if (quality & UNCORE_ABSENT)
		csv_text(csv, why ? why : "for an unknown reason");
	else
		csv_empty(csv, 1);
}
