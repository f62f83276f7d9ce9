/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/join.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/records/join-sockets.h"
#include "client/records/spread.h"
#include "client/report/columns.h"
#include "client/report/derived.h"
#include "client/report/print.h"
#include "common/macro.h"

enum { NAME_LEAST = 8 };

static void join_print_heading(FILE *out, const struct join *join)
{
	const struct record *total = &join->total;
	const uint32_t n_nodes = join->runs.n_machines;

	if (total->rows)
		fputs("\n Jobs (", out);
	else
		fprintf(out, "\n Regions of %s (",
			*total->command ? total->command : "unknown commands");
	if (*total->job)
		fprintf(out, "job %s, ", total->job);
	fprintf(out, "%" PRIu32 " node%s", n_nodes, n_nodes == 1 ? "" : "s");
	if (join->runs.n_runs > 1)
		fprintf(out, ", %" PRIu32 " runs", join->runs.n_runs);
	if (!total->rows) /* jobs of a batch system have no ranks */
		record_print_ranks(out, total);
	fprintf(out, "), platform %s%s:\n", *total->platform ? total->platform : "unknown",
		join->runs.n_runs == 0  ? ""
		: join->runs.n_runs > 1 ? ", all nodes of a run together"
					: ", all nodes together");
}

/* --- rows --- */

static int join_print_sums(FILE *out, const struct join *join)
{
	struct record total = join->total; /* borrows all that it has */
	_cleanup_free_ struct record_region *rows = calloc(total.n_regions + 1U, sizeof *rows);

	if (!rows)
		return -ENOMEM;
	join_print_heading(out, join);
	for (uint32_t i = 0; i < total.n_regions; i++)
		rows[i] = join_row(join, i);
	if (!join_is_sum(join))
		*total.team = '\0'; /* its ranks are those of all rows */
	total.regions = rows;
	record_print_regions(out, &total);
	return 0;
}

/* --- imbalance --- */

static bool is_compared(const struct join *join, uint32_t metric)
{
	if (!derived_is_memory(&join->total, metric))
		return false;
	for (uint32_t i = 0; i < join->total.n_regions; i++)
		if (join->regions[i].n_parts > 1 && !isnan(join_imbalance(join, i, metric).ratio))
			return true;
	return false;
}

static void write_imbalance(
	const struct join *join, uint32_t region, uint32_t metric, char ret_text[COLUMN_CELL_MAX])
{
	struct join_imbalance imbalance = join_imbalance(join, region, metric);
	char host[JOIN_HOST_MOST + 1];

	if (isnan(imbalance.ratio)) {
		strcpy(ret_text, "-");
		return;
	}
	join_short_host(imbalance.largest, host, sizeof host);
	snprintf(ret_text, COLUMN_CELL_MAX, "%.2f %s", imbalance.ratio, host);
}

/* Names that are wider than @most do not count. */
static int width_of_names(const struct join *join, unsigned most)
{
	unsigned width = column_text_width(columns_rows(&join->total));
	char name[COLUMN_CELL_MAX];

	for (uint32_t i = 0; i < join->total.n_regions; i++) {
		unsigned own;

		join_write_name(join, i, name);
		own = column_text_width(name);
		if (own > width && own <= most)
			width = own;
	}
	return (int)width;
}

/* The metrics that are compared, and how many of them a line has room for. */
struct compared {
	const struct join *join;
	int names_width, width;
	uint32_t n, metrics[UNCORE_METRICS_MAX];
	uint32_t n_line;
};

static void find_compared(const struct join *join, unsigned line, struct compared *ret)
{
	int most;

	*ret = (struct compared){ .join = join, .width = 5 + JOIN_HOST_MOST };
	for (uint32_t i = 0; i < join->total.n_metrics; i++) {
		const int n = (int)strlen(join->total.metrics[i]);

		if (!is_compared(join, i))
			continue;
		ret->metrics[ret->n++] = i;
		ret->width = n > ret->width ? n : ret->width;
	}
	most = (int)line - ret->width - 10; /* for the number of nodes, and blanks */
	ret->names_width = width_of_names(join, most > NAME_LEAST ? (unsigned)most : NAME_LEAST);
	ret->n_line = 1; /* at least, however long the names are */
	if ((int)line - ret->names_width - 8 > 2 + ret->width)
		ret->n_line = (uint32_t)(((int)line - ret->names_width - 8) / (2 + ret->width));
}

/* Prints cells from metric @first of those that are compared. @region -1: their titles. */
static void print_cells(FILE *out, const struct compared *compared, uint32_t first, int64_t region)
{
	char text[COLUMN_CELL_MAX];

	for (uint32_t i = first; i < compared->n && i < first + compared->n_line; i++) {
		if (region < 0)
			strcpy(text, compared->join->total.metrics[compared->metrics[i]]);
		else
			write_imbalance(
				compared->join, (uint32_t)region, compared->metrics[i], text);
		fprintf(out, "  %*s", compared->width, text);
	}
	fputc('\n', out);
}

static void print_block(FILE *out, const struct compared *compared, uint32_t first)
{
	const struct join *join = compared->join;
	char name[COLUMN_CELL_MAX];

	fprintf(out, " %-*s  nodes", compared->names_width, columns_rows(&join->total));
	print_cells(out, compared, first, -1);
	for (uint32_t i = 0; i < join->total.n_regions; i++) {
		if (join->regions[i].n_parts <= 1)
			continue;
		join_write_name(join, i, name);
		record_print_name(out, name, (unsigned)compared->names_width);
		fprintf(out, "  %5" PRIu32, join->regions[i].n_parts);
		print_cells(out, compared, first, i);
	}
}

static void join_print_imbalance(FILE *out, const struct join *join)
{
	struct compared compared;

	find_compared(join, columns_line(&join->total, out), &compared);
	if (compared.n)
		fputs("\n Imbalance: the largest node / the mean of the nodes, and which node it "
		      "is:\n",
			out);
	for (uint32_t first = 0; first < compared.n; first += compared.n_line)
		print_block(out, &compared, first);
}

/* --- nodes --- */

static int join_fill_nodes(
	const struct join *join, const struct join_region *region, struct record_region views[])
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < region->n_parts; i++) {
		const struct record *record = &join->records[region->parts[i].record];

		r = join_view(record, &join->total, region->parts[i].region, &views[i]);
		snprintf(views[i].name, sizeof views[i].name, "%.63s", record->host);
	}
	return r;
}

/* The same table with a line for each node. */
static int print_nodes_of(FILE *out, const struct join *join, uint32_t i)
{
	const struct join_region *region = &join->regions[i];
	_cleanup_free_ struct record_region *views = calloc(region->n_parts, sizeof *views);
	struct record nodes = join->total; /* borrows all that it has */
	char name[COLUMN_CELL_MAX];
	int r = views ? join_fill_nodes(join, region, views) : -ENOMEM;

	*nodes.team = '\0';         /* its ranks are those of all nodes */
	strcpy(nodes.host, "each"); /* the sockets are of one node */
	nodes.regions = views;
	nodes.n_regions = region->n_parts;
	join_write_name(join, i, name);
	if (r == 0) {
		fprintf(out, "\n %s %s on each node:\n", nodes.rows ? "Job" : "Region", name);
		record_print_regions(out, &nodes);
	}
	for (uint32_t k = 0; views && k < region->n_parts; k++)
		join_view_done(region->parts[k].region, views[k].sockets);
	return r;
}

/* If a name has several rows, the row of a single node says all. */
static bool has_nodes(const struct join *join, uint32_t i)
{
	return join_is_sum(join) || join->regions[i].n_parts > 1;
}

static int join_print_nodes(FILE *out, const struct join *join, bool asked)
{
	size_t n = 0;
	int r = 0;

	for (uint32_t i = 0; i < join->total.n_regions; i++)
		n += has_nodes(join, i) ? join->regions[i].n_parts : 0;
	if (join->is_folded || (n > JOIN_PRINT_LINES && !asked)) {
		fprintf(out,
			"\n `uncore report --nodes` prints each region of each node, %zu lines.\n",
			n);
		return 0;
	}
	for (uint32_t i = 0; r == 0 && i < join->total.n_regions; i++)
		if (has_nodes(join, i))
			r = print_nodes_of(out, join, i);
	return r;
}

/* --- the whole --- */

static void join_print_notes(FILE *out, const char *notes)
{
	for (const char *line = notes; *line;) {
		size_t n = strcspn(line, "\n");

		fprintf(out, " %.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
}

int join_print(FILE *out, const struct join *join, const char *notes, bool nodes)
{
	const bool is_job = join_is_job(join);

	if ((is_job ? join_print_job(out, join, nodes) : join_print_sums(out, join)) < 0)
		return -ENOMEM;
	join_print_imbalance(out, join);
	spread_print(out, join);
	join_print_ranks(out, join);
	if (!is_job && join_print_nodes(out, join, nodes) < 0)
		return -ENOMEM;
	fputc('\n', out);
	join_print_notes(out, notes);
	footnotes_print(out, &join->total);
	return 0;
}
