/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/candidates.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/command/frame/validated.h"
#include "client/report/columns.h"
#include "client/report/derived.h"
#include "client/report/format.h"
#include "client/report/json.h"
#include "client/report/quantity.h"
#include "common/jsonwriter.h"
#include "common/text.h"

/* Adds the bytes of a metric of DRAM. False: they are not known. */
static bool candidates_add_metric(struct candidate *ret, uint32_t metric)
{
	const struct derived total = derived_total(&ret->row, metric);
	const struct derived_bracket bracket = derived_bracket(&ret->row, metric);

	if (!derived_is_known(&total))
		return false;
	if (derived_is_wide(&bracket))
		ret->basis = "share";
	ret->bytes += total.value;
	return true;
}

/* False: the region has no such figures. */
static bool candidates_take_region(const struct join *join, uint32_t number, struct candidate *ret)
{
	*ret = (struct candidate){ .row = join_row(join, number), .basis = "counted" };
	const double window_ns = (double)derived_window_ns(&ret->row);
	unsigned n = 0;

	for (uint32_t m = 0; m < join->total.n_metrics; m++)
		if (strncmp(join->total.metrics[m], "dram.", strlen("dram.")) == 0 &&
			derived_is_memory(&join->total, m))
			n += candidates_add_metric(ret, m);
	if (!n || !(window_ns > 0))
		return false;
	ret->rate = ret->bytes / window_ns;
	ret->shared = fmin(1, (double)ret->row.shared_ns / window_ns);
	return true;
}

/* The most that DRAM of the region's sockets moved for `uncore validate`; 0: not known. */
static double peak_of(const struct validated *validated, const struct record_region *row)
{
	double sum = 0;

	for (uint32_t i = 0; i < row->n_sockets; i++) {
		const double peak = validated_peak(validated, row->sockets[i].socket);

		if (!(peak > 0) || row->sockets[i].sums)
			return 0;
		sum += peak;
	}
	return sum;
}

static int candidates_by_bytes(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

static int by_misses(const void *a, const void *b)
{
	const struct record_misses *x = &((const struct candidate *)a)->row.misses;
	const struct record_misses *y = &((const struct candidate *)b)->row.misses;

	return x->count == y->count ? candidates_by_bytes(a, b) : x->count < y->count ? 1 : -1;
}

static bool candidates_is_counted(const struct candidate *one, const char *event)
{
	const struct record_misses *misses = &one->row.misses;

	return !misses->absent && *misses->event && strcmp(misses->event, event) == 0;
}

/* Figures of different events, or of some regions, make no order. */
static void sort(struct candidates *candidates)
{
	const size_t n = candidates->n;
	size_t n_counted = 0;

	while (n_counted < n && candidates_is_counted(&candidates->all[n_counted],
					candidates->all[0].row.misses.event))
		n_counted++;
	candidates->are_counted = n && n_counted == n;
	qsort(candidates->all, n, sizeof *candidates->all,
		candidates->are_counted ? by_misses : candidates_by_bytes);
	for (size_t i = n; i-- > 0;)
		if (candidates->all[i].row.misses.absent)
			candidates->lacks = &candidates->all[i];
}

static double candidates_best_of(const struct candidates *candidates)
{
	double best = 0;

	for (size_t i = 0; i < candidates->n; i++)
		best = fmax(best, candidates->all[i].rate);
	return best;
}

/* All regions have the same sockets, unless the program chose others on the way. */
static void find_reference(const struct join *join, struct candidates *candidates)
{
	_cleanup_(validated_done) struct validated validated = { .report = NULL };

	if (candidates->n && validated_read(&validated, join->total.platform))
		candidates->reference = peak_of(&validated, &candidates->all[0].row);
	candidates->is_validated = candidates->reference > 0;
	if (!candidates->is_validated)
		candidates->reference = candidates_best_of(candidates);
}

int candidates_find(const struct join *join, double percent, struct candidates *ret)
{
	size_t n = 0;

	*ret = (struct candidates){ .all = calloc(join->total.n_regions + 1U, sizeof *ret->all) };
	if (!ret->all)
		return -ENOMEM;
	for (uint32_t i = 0; i < join->total.n_regions; i++)
		ret->n += candidates_take_region(join, i, &ret->all[ret->n]);
	find_reference(join, ret);
	for (size_t i = 0; i < ret->n; i++)
		if (ret->all[i].rate > 0 && 100 * ret->all[i].rate >= percent * ret->reference)
			ret->all[n++] = ret->all[i];
	ret->n = n;
	sort(ret);
	return 0;
}

void candidates_done(struct candidates *candidates)
{
	free(candidates->all);
}

/* --- output --- */

/* What counting misses added to a call of begin or end, as the processes timed it. */
static double misses_ns(const struct record_cost *cost)
{
	return cost->n_misses ? (double)cost->misses_ns / (double)cost->n_misses : NAN;
}

static void candidates_print_row(const struct candidates *candidates, const struct candidate *one)
{
	char name[COLUMN_CELL_MAX], bytes[QUANTITY_MAX], rate[QUANTITY_MAX], share[QUANTITY_MAX];
	char shared[QUANTITY_MAX] = "-";

	columns_name(one->row.name, name);
	quantity_bytes(one->bytes, bytes);
	quantity_rate(one->rate, rate);
	quantity_share(one->rate / candidates->reference, share);
	if (one->shared > 0)
		quantity_share(one->shared, shared);
	printf(" %s%*s %12s %-9s %12s %8s %8s", name, column_padding(name, COLUMNS_NAME_MAX), "",
		bytes, one->basis, rate, share, shared);
	if (candidates->are_counted)
		printf(" %12.6g", (double)one->row.misses.count);
	putchar('\n');
}

static void print_misses(const struct candidates *candidates, const struct record_cost *cost)
{
	char mean[QUANTITY_MAX];

	quantity_time(misses_ns(cost), mean);
	printf(" The order is that of %s (missed), which the team's own threads counted",
		candidates->all[0].row.misses.event);
	if (cost->n_misses)
		printf(":\n %s more for each begin and end (%" PRIu64 " timed)", mean,
			cost->n_misses);
	fputs(".\n", stdout);
}

static bool any_counted(const struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->n; i++)
		if (*candidates->all[i].row.misses.event)
			return true;
	return false;
}

static void print_order(const struct candidates *candidates, const struct join *join)
{
	const struct candidate *lacks = candidates->lacks;
	char text[COLUMN_CELL_MAX + 512];

	if (candidates->are_counted) {
		print_misses(candidates, &join->total.cost);
	} else if (lacks) {
		snprintf(text, sizeof text, "The order is that of the bytes. Not counted in %s: %s",
			lacks->row.name, lacks->row.misses.absent);
		putchar(' ');
		text_fold(stdout, text, 1, 1);
	} else {
		puts(any_counted(candidates)
				? " The order is that of the bytes, since not all of these regions "
				  "have counts of one event."
				: " The order is that of the bytes, since no cache misses are "
				  "counted.");
	}
}

static void candidates_print_table(
	const struct candidates *candidates, const struct join *join, double percent)
{
	char rate[QUANTITY_MAX];

	quantity_rate(candidates->reference, rate);
	printf("\n Regions with at least %g %% of %s, %s:\n", percent,
		candidates->is_validated ? "the most that `uncore validate` saw DRAM move"
					 : "the rate of the best region",
		rate);
	printf(" %-30s %12s %-9s %12s %8s %8s", "region", "DRAM", "", "rate", "share", "shared");
	puts(candidates->are_counted ? "       missed" : "");
	for (size_t i = 0; i < candidates->n; i++)
		candidates_print_row(candidates, &candidates->all[i]);
	print_order(candidates, join);
	fputs(" shared: the time in which other regions were open, too; \"at least\" is the low "
	      "end "
	      "of what\n may be the region's own.\n",
		stdout);
	format_caveats(stdout, join->total.platform, "these regions");
}

static void candidate_json(
	struct jsonwriter *json, const struct candidates *candidates, const struct candidate *one)
{
	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "region", one->row.name);
	jsonwriter_text(json, "basis", one->basis);
	jsonwriter_rounded(json, "bytes", one->bytes, 15);
	jsonwriter_rounded(json, "bytes_per_s", 1e9 * one->rate, 15);
	jsonwriter_real(json, "share", one->rate / candidates->reference);
	jsonwriter_real(json, "shared", one->shared);
	record_json_misses(json, &one->row.misses);
	jsonwriter_close(json);
}

static int candidates_print_json(
	const struct candidates *candidates, const struct join *join, double percent)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	jsonwriter_init(&json, true);
	jsonwriter_object(&json, NULL);
	jsonwriter_real(&json, "least_percent", percent);
	jsonwriter_text(&json, "reference", candidates->is_validated ? "validated" : "best region");
	jsonwriter_text(&json, "order", candidates->are_counted ? "misses" : "bytes");
	if (join->total.cost.n_misses)
		jsonwriter_real(&json, "misses_ns_per_call", misses_ns(&join->total.cost));
	jsonwriter_array(&json, "candidates");
	for (size_t i = 0; i < candidates->n; i++)
		candidate_json(&json, candidates, &candidates->all[i]);
	jsonwriter_close(&json);
	jsonwriter_close(&json);
	return jsonwriter_print(&json, stdout);
}

int candidates_show(
	const struct report_options *options, const struct join *join, const char *notes)
{
	const double percent = options->candidates;
	_cleanup_(candidates_done) struct candidates candidates;
	int r = candidates_find(join, percent, &candidates);

	if (r == 0 && options->output == REPORT_JSON)
		r = candidates_print_json(&candidates, join, percent);
	else if (r == 0)
		candidates_print_table(&candidates, join, percent);
	if (r == 0)
		fputs(notes, options->output == REPORT_TABLE ? stdout : stderr);
	return r;
}
