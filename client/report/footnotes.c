/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/report/columns.h"
#include "client/report/derived.h"
#include "client/report/fold.h"
#include "client/report/format.h"
#include "client/report/quantity.h"
#include "common/text.h"

static void print_marks(FILE *out, const struct record *record)
{
	for (uint32_t i = 0; i < record->n_metrics; i++) {
		char words[FORMAT_QUALITY_MAX];
		uint32_t quality = 0;

		for (uint32_t k = 0; k < record->n_regions; k++)
			quality |= columns_quality(record, &record->regions[k], i);
		uncore_quality_words(quality, words, sizeof words);
		if (quality && !format_is_check(record->metrics[i]))
			fprintf(out, " * %s: %s\n", record->metrics[i], words);
	}
}

/* The first reason why any region lacks @metric; NULL: each has it. */
static const char *footnotes_why_absent(const struct record *record, uint32_t metric)
{
	for (uint32_t i = 0; i < record->n_regions; i++) {
		const struct record_region *region = &record->regions[i];
		struct derived total = derived_total(region, metric);

		if (region->n_sockets && !derived_is_known(&total))
			return total.why;
	}
	return NULL;
}

static bool footnotes_shares_reason(const struct record *record, uint32_t metric, const char *why)
{
	const char *other = footnotes_why_absent(record, metric);

	return other && !format_is_check(record->metrics[metric]) && strcmp(other, why) == 0;
}

/* One line per reason, with all metrics that share it. */
static void print_absent(FILE *out, const struct record *record)
{
	for (uint32_t i = 0; i < record->n_metrics; i++) {
		const char *why = footnotes_why_absent(record, i);
		bool told = false;

		if (!why || format_is_check(record->metrics[i]))
			continue;
		for (uint32_t k = 0; k < i; k++)
			told |= footnotes_shares_reason(record, k, why);
		if (told)
			continue;
		fprintf(out, " absent: %s", record->metrics[i]);
		for (uint32_t k = i + 1; k < record->n_metrics; k++)
			if (footnotes_shares_reason(record, k, why))
				fprintf(out, ", %s", record->metrics[k]);
		fputs(" (", out);
		text_print_plain(out, why);
		fputs(")\n", out);
	}
}

/* Several runs have a region of one name each. */
static bool is_first_of_name(const struct record *record, uint32_t region)
{
	for (uint32_t i = 0; i < region; i++)
		if (strcmp(record->regions[i].name, record->regions[region].name) == 0)
			return false;
	return true;
}

/* What short names stand for. */
static void footnotes_print_titles(FILE *out, const struct record *record)
{
	for (uint32_t i = 0; i < record->n_regions; i++) {
		const struct record_region *region = &record->regions[i];

		if (!region->title || !is_first_of_name(record, i))
			continue;
		fprintf(out, " %s: ", region->name);
		text_print_plain(out, region->title);
		fputc('\n', out);
	}
}

/* Not if all are dead: the record has a warning that says more. */
static void print_dead(FILE *out, const struct record *record)
{
	const uint32_t n = record_count_died(record);

	if (n && n < record->n_members && !*record->team)
		fprintf(out,
			" %" PRIu32 " of %" PRIu32 " processes ended by _exit(), exec or a signal; "
			"a region that was open then is counted up to its last reading.\n",
			n, record->n_members);
	else if (n && n < record->n_members)
		fprintf(out,
			" %" PRIu32 " of %" PRIu32 " ranks died without leaving the team; the "
			"figures are those up to the last reading before.\n",
			n, record->n_members);
}

/* Only the number of these members is known. */
static void print_not_joined(FILE *out, const struct record *record)
{
	const uint32_t n = record_count_not_joined(record);

	if (n && *record->host)
		fprintf(out,
			" %" PRIu32 " of the %" PRIu32 " processes that the launcher announced on "
			"this node did not join: they began no region, or are reported alone.\n",
			n, record->n_expected);
}

/* Explains the columns that not every table has. */
static void print_meanings(FILE *out, const struct record *record)
{
	struct columns columns;
	bool shared = false;

	columns_choose(record, columns_line(record, out), &columns);
	for (uint32_t i = 0; i < record->n_regions; i++)
		shared |= record->regions[i].shared_ns > 0;
	if (shared)
		fprintf(out, " shared: while threads were in other regions or in none, too; what "
			     "moved then is shared out by their time.\n");
	if (columns.has_bracket)
		fprintf(out,
			" between: what moved while it was alone, and all that moved while it was "
			"open; its own bytes are between.\n"
			"   Longer regions, a barrier inside at their end, or UNCORE_OVERHEAD=0 "
			"bring the two together.\n");
}

static void print_mean(FILE *out, const char *before, uint64_t time_ns, uint64_t n)
{
	char mean[QUANTITY_MAX];

	quantity_time((double)time_ns / (double)n, mean);
	fprintf(out, "%s%s", before, mean);
}

/* The cost of the measurement itself. */
static void print_cost(FILE *out, const struct record *record)
{
	const struct record_cost *cost = &record->cost;
	const double total_ns = derived_cost_ns(record);
	const char *before = " begin and end took ";

	if (cost->n_reading) {
		print_mean(out, before, cost->reading_ns, cost->n_reading);
		fprintf(out, " for each of %" PRIu64 " calls that read counters", cost->n_reading);
		before = ", ";
	}
	if (cost->n_timed) {
		print_mean(out, before, cost->timed_ns, cost->n_timed);
		fprintf(out, " for others (%" PRIu64 " timed)", cost->n_timed);
		before = ", ";
	}
	if (!isnan(total_ns)) {
		print_mean(out, before, (uint64_t)total_ns, 1);
		fputs(" in all", out);
	}
	if (cost->n_misses) {
		print_mean(out, *before == ',' ? "; " : before, cost->misses_ns, cost->n_misses);
		fprintf(out, " more for UNCORE_MISSES (%" PRIu64 " timed)", cost->n_misses);
		before = ", ";
	}
	if (*before == ',')
		fputs(".\n", out);
}

static void footnotes_print_all(FILE *out, const struct record *record)
{
	print_marks(out, record);
	print_absent(out, record);
	footnotes_print_titles(out, record);
	print_meanings(out, record);
	print_cost(out, record);
	print_dead(out, record);
	print_not_joined(out, record);
	if (record->failure) {
		fprintf(out, " Last failure: ");
		text_print_plain(out, record->failure);
		fputc('\n', out);
	}
	if (record->warning) {
		fputc(' ', out);
		text_print_plain(out, record->warning);
		fputc('\n', out);
	}
	format_caveats(
		out, record->platform, *record->team || record->rows ? "this job" : "this program");
}

void footnotes_print(FILE *out, const struct record *record)
{
	record_print_folded(out, record, footnotes_print_all);
}
