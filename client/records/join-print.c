/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/join-print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/report/cells.h"
#include "client/report/columns.h"
#include "client/report/derived.h"
#include "client/report/footnotes.h"
#include "client/report/print.h"
#include "common/text.h"

enum { HOST_MOST = 16 }; /* characters of a host name in a cell */

static uint32_t count_nodes(const struct join *join)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < join->n_records; i++) {
		uint32_t k = 0;

		while (k < i && strcmp(join->records[k].host, join->records[i].host) != 0)
			k++;
		n += k == i;
	}
	return n;
}

static void print_heading(FILE *out, const struct join *join)
{
	const struct record *total = &join->total;
	const uint32_t n_nodes = count_nodes(join);

	fprintf(out, "\n Regions of %s (", *total->command ? total->command : "unknown commands");
	if (*total->job)
		fprintf(out, "job %s, ", total->job);
	fprintf(out, "%" PRIu32 " node%s, ", n_nodes, n_nodes == 1 ? "" : "s");
	if (join->runs.n_runs > 1)
		fprintf(out, "%" PRIu32 " runs, ", join->runs.n_runs);
	fprintf(out, "%" PRIu32, total->n_members);
	if (total->n_expected)
		fprintf(out, " of %" PRIu32, total->n_expected);
	fprintf(out, " ranks), platform %s%s:\n", *total->platform ? total->platform : "unknown",
		join->runs.n_runs == 0  ? ""
		: join->runs.n_runs > 1 ? ", all nodes of a run together"
					: ", all nodes together");
}

/* --- rows --- */

/* A region of the total, with a unique name. */
static struct record_region row_of(const struct join *join, uint32_t i)
{
	struct record_region row = join->total.regions[i];
	char tag[JOIN_TAG_MAX];

	join_tag(join, &row, tag);
	snprintf(row.name, sizeof row.name, "%.*s%s", (int)(sizeof row.name - 1 - strlen(tag)),
		join->total.regions[i].name, tag);
	return row;
}

static void print_rows(FILE *out, const struct join *join)
{
	struct record total = join->total; /* borrows all that it has */
	struct record_region *rows = calloc(total.n_regions + 1U, sizeof *rows);

	if (!rows)
		return;
	for (uint32_t i = 0; i < total.n_regions; i++)
		rows[i] = row_of(join, i);
	if (!join_is_sum(join))
		*total.team = '\0'; /* its ranks are those of all rows */
	total.regions = rows;
	record_print_regions(out, &total);
	free(rows);
}

static void write_name(const struct join *join, uint32_t i, char ret_text[COLUMN_CELL_MAX])
{
	const struct record_region row = row_of(join, i);

	cells_name(&join->total, &row, NULL, ret_text);
}

/* --- imbalance --- */

static bool is_compared(const struct join *join, uint32_t metric)
{
	if (!derived_is_memory(join->total.metrics[metric]))
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
	char host[HOST_MOST + 1];

	if (isnan(imbalance.ratio)) {
		strcpy(ret_text, "-");
		return;
	}
	snprintf(host, sizeof host, "%.*s", (int)strcspn(imbalance.largest->host, "."),
		imbalance.largest->host);
	text_make_plain(host);
	snprintf(ret_text, COLUMN_CELL_MAX, "%.2f %s", imbalance.ratio, host);
}

static int width_of_names(const struct join *join)
{
	unsigned width = column_text_width(columns_rows(&join->total));
	char name[COLUMN_CELL_MAX];

	for (uint32_t i = 0; i < join->total.n_regions; i++) {
		write_name(join, i, name);
		if (column_text_width(name) > width)
			width = column_text_width(name);
	}
	return (int)width;
}

static void print_imbalance_of(FILE *out, const struct join *join, uint32_t region, int width)
{
	char text[COLUMN_CELL_MAX];

	write_name(join, region, text);
	fprintf(out, " %s%*s  %5" PRIu32, text, width - (int)column_text_width(text), "",
		join->regions[region].n_parts);
	for (uint32_t i = 0; i < join->total.n_metrics; i++) {
		if (!is_compared(join, i))
			continue;
		write_imbalance(join, region, i, text);
		fprintf(out, "  %*s", 5 + HOST_MOST, text);
	}
	fputc('\n', out);
}

void join_print_imbalance(FILE *out, const struct join *join)
{
	int width = width_of_names(join);
	bool any = false;

	for (uint32_t i = 0; i < join->total.n_metrics; i++)
		any |= is_compared(join, i);
	if (!any)
		return;
	fprintf(out,
		"\n Imbalance: the largest node / the mean of the nodes, and which node it is:\n"
		" %-*s  nodes",
		width, columns_rows(&join->total));
	for (uint32_t i = 0; i < join->total.n_metrics; i++)
		if (is_compared(join, i))
			fprintf(out, "  %*s", 5 + HOST_MOST, join->total.metrics[i]);
	fputc('\n', out);
	for (uint32_t i = 0; i < join->total.n_regions; i++)
		if (join->regions[i].n_parts > 1)
			print_imbalance_of(out, join, i, width);
}

/* --- nodes --- */

/* The same table with a line for each node. */
static void print_nodes_of(FILE *out, const struct join *join, uint32_t i)
{
	const struct join_region *region = &join->regions[i];
	struct record nodes = join->total; /* borrows all that it has */
	struct record_region *views = calloc(region->n_parts, sizeof *views);
	char name[COLUMN_CELL_MAX];

	if (!views)
		return;
	for (uint32_t k = 0; k < region->n_parts; k++) {
		views[k] = region->parts[k].view;
		snprintf(views[k].name, sizeof views[k].name, "%.63s",
			region->parts[k].record->host);
	}
	*nodes.team = '\0';         /* its ranks are those of all nodes */
	strcpy(nodes.host, "each"); /* the sockets are of one node */
	nodes.regions = views;
	nodes.n_regions = region->n_parts;
	write_name(join, i, name);
	fprintf(out, "\n Region %s on each node:\n", name);
	record_print_regions(out, &nodes);
	free(views);
}

/* If a name has several rows, the row of a single node says all. */
static bool has_nodes(const struct join *join, uint32_t i)
{
	return join_is_sum(join) || join->regions[i].n_parts > 1;
}

static void print_nodes(FILE *out, const struct join *join, bool asked)
{
	size_t n = 0;

	for (uint32_t i = 0; i < join->total.n_regions; i++)
		n += has_nodes(join, i) ? join->regions[i].n_parts : 0;
	if (n > JOIN_PRINT_LINES && !asked) {
		fprintf(out,
			"\n `uncore report --nodes` prints each region of each node, %zu lines.\n",
			n);
		return;
	}
	for (uint32_t i = 0; i < join->total.n_regions; i++)
		if (has_nodes(join, i))
			print_nodes_of(out, join, i);
}

/* --- the whole --- */

void join_print_notes(FILE *out, const char *notes)
{
	for (const char *line = notes; *line;) {
		size_t n = strcspn(line, "\n");

		fprintf(out, " %.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
}

void join_print(FILE *out, const struct join *join, const char *notes, bool nodes)
{
	print_heading(out, join);
	print_rows(out, join);
	join_print_imbalance(out, join);
	print_nodes(out, join, nodes);
	fputc('\n', out);
	join_print_notes(out, notes);
	footnotes_print(out, &join->total);
}
