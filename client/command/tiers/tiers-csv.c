/* SPDX-License-Identifier: BSD-3-Clause */
/* A row for each figure: of a node, of a process on a node, of a socket. */
#include <string.h>

#include "client/command/tiers/tiers.h"
#include "client/report/csv.h"
#include "client/report/format.h"
#include "common/macro.h"

struct row {
	uint64_t time_ns;
	const char *of; /* "node" */
	uint64_t number;
	const char *kind, *metric, *why;
	uint64_t value;
	uint32_t quality;
};

static void tiers_csv_write_row(const struct row *row)
{
	const bool is_absent = row->value == NODE_NOT_KNOWN || row->quality & UNCORE_ABSENT;
	const uint32_t quality = is_absent ? UNCORE_ABSENT : row->quality;
	struct csv csv = { .out = stdout };

	csv_number(&csv, row->time_ns);
	csv_text(&csv, row->of);
	csv_number(&csv, row->number);
	csv_text(&csv, row->kind);
	csv_text(&csv, row->metric);
	csv_known(&csv, !is_absent, (int64_t)row->value);
	csv_quality(&csv, quality);
	csv_absent(&csv, quality, row->why);
	csv_end(&csv);
}

static void tiers_csv_write_node(struct row row, const struct node *node)
{
	row.of = "node";
	row.number = node->number;
	row.kind = node_kind_name(node->kind);
	row.why = "the kernel does not say";
	for (unsigned i = 0; i < node->n_figures; i++) {
		row.metric = node->figures[i].name;
		row.value = node->figures[i].value;
		tiers_csv_write_row(&row);
	}
}

static void tiers_csv_write_process(
	struct row row, const struct nodes *nodes, const struct process *process)
{
	char why[PROCESS_WHY_MAX], name[NODE_NAME_MAX];

	process_why(process, why);
	row.of = "process";
	row.number = (uint64_t)process->pid;
	row.metric = name;
	row.why = why;
	for (unsigned i = 0; i < nodes->n; i++) {
		const unsigned number = nodes->all[i].number;

		row.kind = node_kind_name(nodes->all[i].kind);
		snprintf(name, sizeof name, "node%u_bytes", number);
		row.value = process->error ? NODE_NOT_KNOWN : process->bytes[number];
		tiers_csv_write_row(&row);
	}
}

static void tiers_csv_write_socket(struct row row, const struct format_socket *socket)
{
	char name[2 * UNCORE_NAME_MAX], kind[UNCORE_NAME_MAX];

	row.of = "socket";
	row.number = socket->socket;
	row.kind = kind;
	row.metric = name;
	for (uint32_t i = 0; i < socket->n_values; i++) {
		const struct format_value *value = &socket->values[i];

		snprintf(kind, sizeof kind, "%.*s", (int)strcspn(value->name, "."), value->name);
		snprintf(name, sizeof name, "%s_%s", value->name, value->unit);
		row.value = value->count;
		row.quality = value->quality;
		row.why = value->why;
		tiers_csv_write_row(&row);
	}
}

void tiers_csv(struct tiers *tiers)
{
	const struct row row = { .time_ns = tiers->looked_ns - tiers->begun_ns };
	struct format_socket socket;

	if (!tiers->headed)
		puts("time_ns,of,number,kind,metric,value,quality,absent");
	if (!tiers->headed && !tiers->total.runs)
		fprintf(stderr, "uncore tiers: the traffic is absent: %s\n", tiers->failure);
	tiers->headed = true;
	for (unsigned i = 0; i < tiers->nodes.n; i++)
		tiers_csv_write_node(row, &tiers->nodes.all[i]);
	for (unsigned i = 0; i < tiers->pages.n; i++)
		tiers_csv_write_process(row, &tiers->nodes, &tiers->pages.all[i]);
	for (uint32_t i = 0; tiers->total.runs && i < tiers->total.n_sockets; i++) {
		total_show(&tiers->total, tiers->reader.handle, i, &socket);
		tiers_csv_write_socket(row, &socket);
	}
}
