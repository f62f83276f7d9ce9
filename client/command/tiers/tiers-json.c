/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/tiers/tiers.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

/* What is not known has no member. */
static void tiers_json_write_node(struct jsonwriter *json, const struct node *node)
{
	jsonwriter_object(json, NULL);
	jsonwriter_number(json, "node", node->number);
	jsonwriter_text(json, "kind", node_kind_name(node->kind));
	jsonwriter_text(json, "known_by", node->known_by);
	jsonwriter_flag(json, "has_cpus", node->has_cpus);
	for (unsigned i = 0; i < node->n_figures; i++)
		if (node->figures[i].value != NODE_NOT_KNOWN)
			jsonwriter_number(json, node->figures[i].name, node->figures[i].value);
	jsonwriter_close(json);
}

static void tiers_json_write_process(
	struct jsonwriter *json, const struct nodes *nodes, const struct process *process)
{
	char why[PROCESS_WHY_MAX];

	jsonwriter_object(json, NULL);
	jsonwriter_number(json, "pid", (uint64_t)process->pid);
	process_why(process, why);
	if (process->error)
		jsonwriter_text(json, "absent", why);
	else
		jsonwriter_number(json, "hugetlb_bytes", process->huge_bytes);
	jsonwriter_array(json, "nodes");
	for (unsigned i = 0; !process->error && i < nodes->n; i++) {
		jsonwriter_object(json, NULL);
		jsonwriter_number(json, "node", nodes->all[i].number);
		jsonwriter_number(json, "bytes", process->bytes[nodes->all[i].number]);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
	jsonwriter_close(json);
}

static void tiers_json_write_processes(struct jsonwriter *json, const struct tiers *tiers)
{
	jsonwriter_array(json, "processes");
	for (unsigned i = 0; i < tiers->pages.n; i++)
		tiers_json_write_process(json, &tiers->nodes, &tiers->pages.all[i]);
	jsonwriter_close(json);
	if (!tiers->pages.n)
		return;
	jsonwriter_number(json, "pages_age_ns", tiers->looked_ns - tiers->pages.read_ns);
	jsonwriter_number(json, "pages_reading_ns", tiers->pages.took_ns);
}

void tiers_json(const struct tiers *tiers)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json = { .out = NULL };
	const char *unknown;

	jsonwriter_init(&json, !tiers->options.interval_ns);
	jsonwriter_object(&json, NULL);
	jsonwriter_number(&json, "time_ns", tiers->looked_ns - tiers->begun_ns);
	jsonwriter_array(&json, "nodes");
	for (unsigned i = 0; i < tiers->nodes.n; i++)
		tiers_json_write_node(&json, &tiers->nodes.all[i]);
	jsonwriter_close(&json);
	jsonwriter_array(&json, "unknown");
	for (unsigned i = 0; (unknown = nodes_unknown(&tiers->nodes, i)); i++)
		jsonwriter_text(&json, NULL, unknown);
	jsonwriter_close(&json);
	tiers_json_write_processes(&json, tiers);
	if (tiers->total.runs) {
		jsonwriter_object(&json, "traffic");
		total_json(&json, &tiers->total, tiers->reader.handle, &tiers->reader.machine);
		jsonwriter_close(&json);
	} else {
		jsonwriter_text(&json, "traffic_absent", tiers->failure);
	}
	jsonwriter_close(&json);
	if (jsonwriter_print(&json, stdout) < 0)
		fputs("uncore tiers: no memory for the result.\n", stderr);
}
