/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/command/tiers/tiers.h"
#include "client/report/format.h"
#include "client/report/quantity.h"
#include "common/text.h"

static void print_note(const char *text)
{
	putchar(' ');
	text_fold(stdout, text, 1, 3);
}

static void tiers_write_bytes(uint64_t bytes, char ret_text[QUANTITY_MAX])
{
	quantity_bytes(bytes == NODE_NOT_KNOWN ? NAN : (double)bytes, ret_text);
}

static void tiers_print_node(const struct node *node)
{
	char text[QUANTITY_MAX];

	printf(" %4u  %-8s", node->number, node_kind_name(node->kind));
	for (unsigned i = 0; i < NODE_COLUMNS; i++) {
		tiers_write_bytes(node->figures[i].value, text);
		printf("%12s", text);
	}
	putchar('\n');
}

/* Figures without a column, and how the kind is known if it is not obvious. */
static void print_more(const struct node *node)
{
	char text[1024];

	if (!node->has_cpus || node->kind != NODE_DRAM) {
		snprintf(text, sizeof text, "node %u, %s: %s.", node->number,
			node_kind_name(node->kind), node->known_by);
		print_note(text);
	}
	snprintf(text, sizeof text, "node %u:", node->number);
	for (unsigned i = NODE_COLUMNS; i < node->n_figures; i++)
		if (node->figures[i].value && node->figures[i].value != NODE_NOT_KNOWN)
			text_append(text, sizeof text, "%s %s %" PRIu64,
				text[strlen(text) - 1] == ':' ? "" : ",", node->figures[i].name,
				node->figures[i].value);
	if (text[strlen(text) - 1] != ':')
		print_note(text);
}

static void tiers_print_nodes(const struct nodes *nodes)
{
	const char *unknown;

	printf("\n node  kind    ");
	for (unsigned i = 0; i < NODE_COLUMNS; i++)
		printf("%12.*s", (int)strcspn(nodes->all->figures[i].name, "_"),
			nodes->all->figures[i].name);
	putchar('\n');
	for (unsigned i = 0; i < nodes->n; i++)
		tiers_print_node(&nodes->all[i]);
	for (unsigned i = 0; i < nodes->n; i++)
		print_more(&nodes->all[i]);
	for (unsigned i = 0; (unknown = nodes_unknown(nodes, i)); i++)
		print_note(unknown);
}

static void print_process(const struct nodes *nodes, const struct process *process)
{
	char text[4096], part[QUANTITY_MAX];

	snprintf(text, sizeof text, "process %d:", process->pid);
	for (unsigned i = 0; i < nodes->n; i++) {
		tiers_write_bytes(process->bytes[nodes->all[i].number], part);
		text_append(text, sizeof text, "%s node %u %s", i ? "," : "", nodes->all[i].number,
			part);
	}
	tiers_write_bytes(process->huge_bytes, part);
	if (process->huge_bytes)
		text_append(text, sizeof text, "; of these in hugetlb pages %s", part);
	if (process->error)
		process_why(process, text);
	print_note(text);
}

static void print_processes(const struct tiers *tiers)
{
	char age[QUANTITY_MAX], took[QUANTITY_MAX];

	for (unsigned i = 0; i < tiers->pages.n; i++)
		print_process(&tiers->nodes, &tiers->pages.all[i]);
	quantity_time((double)(tiers->looked_ns - tiers->pages.read_ns), age);
	quantity_time((double)tiers->pages.took_ns, took);
	if (tiers->pages.n)
		printf(" The pages were read %s before this, in %s.\n", age, took);
}

void tiers_print(const struct tiers *tiers)
{
	struct format_socket shown[2]; /* this one, and the one above it */
	char text[sizeof tiers->failure + 32];

	tiers_print_nodes(&tiers->nodes);
	print_processes(tiers);
	putchar('\n');
	for (uint32_t i = 0; tiers->total.runs && i < tiers->total.n_sockets; i++) {
		total_show(&tiers->total, tiers->reader.handle, i, &shown[i % 2]);
		format_rows(stdout, &shown[i % 2], i ? &shown[(i + 1) % 2] : NULL);
	}
	snprintf(text, sizeof text, "The traffic is absent: %s", tiers->failure);
	if (tiers->total.runs)
		format_caveats(stdout, tiers->reader.platform, "one process");
	else
		print_note(text);
}
