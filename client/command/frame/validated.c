/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/validated.h"

#include <stdio.h>
#include <string.h>

#include "client/command/frame/keep.h"
#include "client/records/json.h"

struct json_object *validated_read(const char *platform)
{
	struct json_object *report = json_object_from_file(KEEP_PATH);

	/* A disk may have moved from one machine to another. */
	if (report && strcmp(json_text(report, "platform", ""), platform) == 0)
		return report;
	json_object_put(report);
	return NULL;
}

void validated_free(struct json_object *report)
{
	json_object_put(report);
}

static double number(struct json_object *object, const char *key)
{
	return json_object_get_double(json_member(object, key));
}

static void print_metric(struct json_object *metric)
{
	printf("; %s shows %.3f of the reads and %.3f of the writes",
		json_text(metric, "metric", "?"), number(metric, "reads"),
		number(metric, "writes"));
}

static void print_node(struct json_object *node)
{
	struct json_object *findings = json_list(node, "findings");
	struct json_object *metrics = json_list(node, "metrics");

	printf("  node %s: %s", json_text(node, "node", "?"), json_text(node, "outcome", "?"));
	for (size_t i = 0; i < json_length(metrics); i++)
		print_metric(json_object_array_get_idx(metrics, i));
	if (json_has(node, "peak_bytes_per_ns"))
		printf("; fastest kernel %.1f GB/s", number(node, "peak_bytes_per_ns"));
	printf("\n");
	for (size_t i = 0; i < json_length(findings); i++)
		printf("    %s\n", json_object_get_string(json_object_array_get_idx(findings, i)));
}

void validated_print(struct json_object *report)
{
	struct json_object *nodes = json_list(report, "nodes");

	if (!report)
		return;
	printf("\nValidated on %s, under Linux %s\n", json_text(report, "date", "?"),
		json_text(report, "kernel", "?"));
	for (size_t i = 0; i < json_length(nodes); i++)
		print_node(json_object_array_get_idx(nodes, i));
}

/* Did the report look for the node's bytes in metrics of DRAM? */
static bool is_dram(struct json_object *node)
{
	struct json_object *metrics = json_list(node, "metrics");
	const char *metric = json_length(metrics) ? json_text(json_object_array_get_idx(metrics, 0),
							    "metric", "")
						  : "";

	return strncmp(metric, "dram.", strlen("dram.")) == 0;
}

double validated_peak(struct json_object *report, uint32_t socket)
{
	struct json_object *nodes = json_list(report, "nodes");
	double peak = 0;

	for (size_t i = 0; i < json_length(nodes); i++) {
		struct json_object *node = json_object_array_get_idx(nodes, i);

		if (json_has(node, "socket") && json_number(node, "socket") == socket &&
			is_dram(node))
			peak += number(node, "peak_bytes_per_ns");
	}
	return peak;
}
