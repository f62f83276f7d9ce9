/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/join-json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/report/json.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

/* Distinguishes several regions of a name. */
static void tags_json(struct jsonwriter *json, const struct record_region *region)
{
	if (region->run)
		jsonwriter_number(json, "run", region->run);
	if (region->node)
		jsonwriter_number(json, "node", region->node - 1);
}

static void imbalance_json(struct jsonwriter *json, const struct join *join, uint32_t region)
{
	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "region", join->total.regions[region].name);
	tags_json(json, &join->total.regions[region]);
	jsonwriter_number(json, "nodes", join->regions[region].n_parts);
	jsonwriter_object(json, "metrics");
	for (uint32_t i = 0; i < join->total.n_metrics; i++) {
		struct join_imbalance imbalance = join_imbalance(join, region, i);

		if (!imbalance.largest || isnan(imbalance.ratio))
			continue;
		jsonwriter_object(json, join->total.metrics[i]);
		jsonwriter_real(json, "largest_to_mean", imbalance.ratio);
		jsonwriter_text(json, "largest_host", imbalance.largest->host);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
	jsonwriter_close(json);
}

static void notes_json(struct jsonwriter *json, const char *notes)
{
	char line[2048];

	jsonwriter_array(json, "notes");
	while (*notes) {
		size_t n = strcspn(notes, "\n");

		snprintf(line, sizeof line, "%.*s", (int)n, notes);
		jsonwriter_text(json, NULL, line);
		notes += n + (notes[n] == '\n');
	}
	jsonwriter_close(json);
}

static void missing_json(
	struct jsonwriter *json, const struct join *join, const struct hostlist *expected)
{
	jsonwriter_array(json, "missing");
	for (size_t i = 0; i < expected->n_names; i++)
		if (!join_has_host(join, expected->names[i]))
			jsonwriter_text(json, NULL, expected->names[i]);
	jsonwriter_close(json);
}

/* The places, in the list of nodes, of the nodes of one run, or of no run. */
static void places_json(
	struct jsonwriter *json, const char *key, const struct join *join, uint32_t run)
{
	jsonwriter_array(json, key);
	for (uint32_t i = 0; i < join->n_records; i++)
		if (join->runs.of[i] == run)
			jsonwriter_number(json, NULL, i);
	jsonwriter_close(json);
}

static void runs_json(struct jsonwriter *json, const struct join *join)
{
	jsonwriter_array(json, "runs");
	for (uint32_t i = 0; i < join->runs.n_runs; i++)
		places_json(json, NULL, join, i);
	jsonwriter_close(json);
	places_json(json, "apart", join, RUNS_APART);
}

int join_json(const struct join *join, const struct hostlist *expected, const char *notes,
	char **ret_text)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	jsonwriter_init(&json, true);
	jsonwriter_object(&json, NULL);
	jsonwriter_number(&json, "schema", RECORD_SCHEMA);
	notes_json(&json, notes);
	missing_json(&json, join, expected);
	runs_json(&json, join);
	record_json_member(&json, "total", &join->total);
	jsonwriter_array(&json, "imbalance");
	for (uint32_t i = 0; i < join->total.n_regions; i++)
		imbalance_json(&json, join, i);
	jsonwriter_close(&json);
	jsonwriter_array(&json, "nodes");
	for (uint32_t i = 0; i < join->n_records; i++)
		record_json_member(&json, NULL, &join->records[i]);
	jsonwriter_close(&json);
	jsonwriter_close(&json);
	return jsonwriter_finish(&json, ret_text);
}
