/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/report/columns.h"
#include "client/report/derived.h"
#include "client/report/quantity.h"
#include "common/macro.h"

static const char *const spread_names[SPREAD_RANKS] = { "least", "5 %", "median", "95 %", "most" };

double spread_sum(const struct join *join, uint32_t region, uint32_t part, const char *kind)
{
	double sum = NAN;

	for (uint32_t i = 0; i < join->total.n_metrics; i++) {
		const double count = join_count(&join->regions[region], part, i);

		if (derived_is_memory(&join->total, i) && strstr(join->total.metrics[i], kind) &&
			!isnan(count))
			sum = isnan(sum) ? count : sum + count;
	}
	return sum;
}

static int spread_compare(const void *a, const void *b)
{
	const struct spread_node *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x->part > y->part) - (x->part < y->part);
}

/* @nodes begin with the largest. */
static void find_ranks(const struct spread_node nodes[], uint32_t n, struct spread *ret)
{
	static const double shares[SPREAD_RANKS] = { 0, 0.05, 0.5, 0.95, 1 };

	for (int i = 0; i < SPREAD_RANKS; i++) {
		const double rank = fmax(ceil(shares[i] * n), 1);

		ret->ranks[i] = nodes[n - (uint32_t)rank].count;
	}
	ret->n_worst = n < SPREAD_WORST ? n : SPREAD_WORST;
	memcpy(ret->worst, nodes, ret->n_worst * sizeof *nodes);
}

bool spread_of(const struct join *join, uint32_t region, uint32_t metric, struct spread *ret)
{
	const uint32_t n = join->regions[region].n_parts;
	_cleanup_free_ struct spread_node *nodes = calloc(n + 1U, sizeof *nodes);

	for (uint32_t i = 0; nodes && i < n; i++) {
		nodes[i].part = i;
		nodes[i].count = metric == SPREAD_ALL
					 ? spread_sum(join, region, i, "")
					 : join_count(&join->regions[region], i, metric);
		if (isnan(nodes[i].count))
			return false;
	}
	if (!nodes || !n)
		return false;
	qsort(nodes, n, sizeof *nodes, spread_compare);
	find_ranks(nodes, n, ret);
	return true;
}

/* --- tables --- */

enum { NAME_WIDTH = 20 };

static void spread_print_titles(FILE *out, const struct join *join)
{
	fprintf(out,
		"\n Percentiles of the nodes, and the nodes with the most bytes:\n %-*s  %-12s",
		NAME_WIDTH, columns_rows(&join->total), "metric");
	for (int i = 0; i < SPREAD_RANKS; i++)
		fprintf(out, "  %10s", spread_names[i]);
	fputc('\n', out);
}

static void spread_print_row(FILE *out, const struct join *join, uint32_t region, uint32_t metric,
	const struct spread *spread)
{
	char text[COLUMN_CELL_MAX];

	join_write_name(join, region, text);
	fprintf(out, " %s%*s  %-12s", text, column_padding(text, NAME_WIDTH), "",
		join->total.metrics[metric]);
	for (int i = 0; i < SPREAD_RANKS; i++) {
		quantity_of(join->total.units[metric], spread->ranks[i], text);
		fprintf(out, "  %10s", text);
	}
	fputc('\n', out);
}

static void print_worst(FILE *out, const struct join *join, uint32_t region)
{
	struct spread spread;
	char host[JOIN_HOST_MOST + 1];

	if (!spread_of(join, region, SPREAD_ALL, &spread) || !(spread.ranks[SPREAD_MEDIAN] > 0))
		return;
	for (uint32_t i = 0; i < spread.n_worst; i++) {
		const struct join_part *part = &join->regions[region].parts[spread.worst[i].part];

		join_short_host(&join->records[part->record], host, sizeof host);
		fprintf(out,
			i % 5 ? ", %s %.2f x"
			: i   ? ",\n   %s %.2f x"
			      : "   %s %.2f x",
			host, spread.worst[i].count / spread.ranks[SPREAD_MEDIAN]);
		fputs(i ? "" : " the median", out);
	}
	fputc('\n', out);
}

/* Returns whether the titles were printed. */
static bool spread_print_region(
	FILE *out, const struct join *join, uint32_t region, bool has_titles)
{
	struct spread spread;
	bool any = false;

	for (uint32_t i = 0; i < join->total.n_metrics; i++) {
		if (!derived_is_memory(&join->total, i) || !spread_of(join, region, i, &spread))
			continue;
		if (!any && !has_titles)
			spread_print_titles(out, join);
		any = true;
		spread_print_row(out, join, region, i, &spread);
	}
	if (any)
		print_worst(out, join, region);
	return any || has_titles;
}

void spread_print(FILE *out, const struct join *join)
{
	bool has_titles = false;

	for (uint32_t i = 0; i < join->total.n_regions; i++)
		if (join->regions[i].n_parts >= SPREAD_LEAST_NODES)
			has_titles = spread_print_region(out, join, i, has_titles);
}
