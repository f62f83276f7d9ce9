/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/records/spread.h"
#include "client/report/derived.h"
#include "client/report/json.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

enum { COUNT_DIGITS = 5, COUNTS_MOST = 250000 };

/* Least, 5 %, median, 95 % and most; and the nodes with the most. */
static void spread_json(
	struct jsonwriter *json, const struct join *join, uint32_t region, uint32_t metric)
{
	struct spread spread;

	if (!spread_of(join, region, metric, &spread))
		return;
	jsonwriter_array(json, "percentiles");
	for (int i = 0; i < SPREAD_RANKS; i++)
		jsonwriter_real(json, NULL, spread.ranks[i]);
	jsonwriter_close(json);
	jsonwriter_array(json, "worst");
	for (uint32_t i = 0; i < spread.n_worst; i++) {
		const struct join_part *part = &join->regions[region].parts[spread.worst[i].part];

		jsonwriter_object(json, NULL);
		jsonwriter_text(json, "host", join->records[part->record].host);
		jsonwriter_real(json, "count", spread.worst[i].count);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

/* How far the nodes are apart in each metric of a region. */
static void imbalance_json(struct jsonwriter *json, const struct join *join, uint32_t region)
{
	jsonwriter_object(json, "metrics");
	for (uint32_t i = 0; i < join->total.n_metrics; i++) {
		struct join_imbalance imbalance = join_imbalance(join, region, i);

		if (!imbalance.largest || isnan(imbalance.ratio))
			continue;
		jsonwriter_object(json, join->total.metrics[i]);
		jsonwriter_real(json, "largest_to_mean", imbalance.ratio);
		jsonwriter_text(json, "largest_host", imbalance.largest->host);
		spread_json(json, join, region, i);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

static void join_region_json(struct jsonwriter *json, const struct join *join, uint32_t region)
{
	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "region", join->total.regions[region].name);
	record_json_tags(json, &join->total.regions[region]);
	jsonwriter_number(json, "nodes", join->regions[region].n_parts);
	imbalance_json(json, join, region);
	if (join->n_ranks <= JOIN_RANKS_MOST)
		ranks_json(json, &join->regions[region].ranks, join->records);
	jsonwriter_close(json);
}

static void notes_json(struct jsonwriter *json, const char *notes)
{
	jsonwriter_array(json, "notes");
	while (*notes) {
		const size_t n = strcspn(notes, "\n");
		_cleanup_free_ char *line = strndup(notes, n);

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
		if (join->runs.of[i] == run && !join->records[i].beside)
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

/* --- pages --- */

/* A region's counts: an array for each metric, in the order of .nodes. */
static void counts_json(struct jsonwriter *json, const struct join *join, uint32_t region)
{
	const struct join_region *of = &join->regions[region];

	jsonwriter_object(json, NULL);
	jsonwriter_array(json, "nodes");
	for (uint32_t i = 0; i < of->n_parts; i++)
		jsonwriter_number(json, NULL, of->parts[i].record);
	jsonwriter_close(json);
	jsonwriter_array(json, "open_ns");
	for (uint32_t i = 0; i < of->n_parts; i++)
		jsonwriter_rounded(json, NULL, (double)of->parts[i].open_ns, COUNT_DIGITS);
	jsonwriter_close(json);
	for (uint32_t metric = 0; metric < of->n_metrics && metric < join->total.n_metrics;
		metric++) {
		if (!derived_is_memory(&join->total, metric))
			continue;
		jsonwriter_array(json, join->total.metrics[metric]);
		for (uint32_t i = 0; i < of->n_parts; i++)
			jsonwriter_rounded(json, NULL, join_count(of, i, metric), COUNT_DIGITS);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

static void node_json(struct jsonwriter *json, const struct record *record)
{
	jsonwriter_object(json, NULL);
	jsonwriter_text_or_null(json, "host", record->host);
	if (*record->label)
		jsonwriter_text(json, "label", record->label);
	jsonwriter_number(json, "ranks", record->n_members);
	jsonwriter_number(json, "begun_s", (uint64_t)record->begun_ns / 1000000000);
	jsonwriter_close(json);
}

/* With more counts than a page has room for, its percentiles stay. */
static bool join_has_room(const struct join *join)
{
	return (uint64_t)join->n_records * join->total.n_regions * join->total.n_metrics <=
	       COUNTS_MOST;
}

static void join_counts_json(struct jsonwriter *json, const struct join *join)
{
	jsonwriter_array(json, "nodes");
	for (uint32_t i = 0; i < join->n_records; i++)
		node_json(json, &join->records[i]);
	jsonwriter_close(json);
	jsonwriter_array(json, "counts");
	for (uint32_t i = 0; join_has_room(join) && i < join->total.n_regions; i++)
		counts_json(json, join, i);
	jsonwriter_close(json);
}

/* --- the whole --- */

static void nodes_json(struct jsonwriter *json, const struct join *join)
{
	jsonwriter_array(json, "nodes");
	for (uint32_t i = 0; i < join->n_records; i++)
		record_json_member(json, NULL, &join->records[i]);
	jsonwriter_close(json);
}

void join_json(struct jsonwriter *json, const struct join *join, const struct hostlist *expected,
	const char *notes, bool is_page)
{
	jsonwriter_number(json, "schema", RECORD_SCHEMA);
	notes_json(json, notes);
	missing_json(json, join, expected);
	runs_json(json, join);
	record_json_member(json, "total", &join->total);
	jsonwriter_array(json, "imbalance");
	for (uint32_t i = 0; i < join->total.n_regions; i++)
		join_region_json(json, join, i);
	jsonwriter_close(json);
	(is_page ? join_counts_json : nodes_json)(json, join);
	if (is_page)
		join_json_bins(json, join);
}
