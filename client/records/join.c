/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/join.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/launcher/hostlist.h"
#include "client/records/join-head.h"
#include "client/records/rows.h"
#include "client/report/derived.h"
#include "common/macro.h"
#include "common/text.h"

void join_done(struct join *join)
{
	for (uint32_t i = 0; join->regions && i < join->total.n_regions; i++)
		free(join->regions[i].parts);
	free(join->regions);
	record_done(&join->total);
	for (uint32_t i = 0; join->records && i < join->n_records; i++)
		record_done(&join->records[i]);
	free(join->records);
	runs_done(&join->runs);
	*join = (struct join){};
}

/* --- regions --- */

static void take_row(const struct join *join, const struct row *row, struct record_region *ret)
{
	strcpy(ret->name, row->name);
	if (row->run == RUNS_APART)
		ret->node = row->record + 1;
	else if (join->runs.n_runs > 1)
		ret->run = row->run + 1;
}

/* Makes the regions, and counts the sockets and parts of each. */
static int make_regions(struct join *join, const struct rows *rows)
{
	join->total.regions = calloc(rows->n + 1U, sizeof *join->total.regions);
	join->regions = calloc(rows->n + 1U, sizeof *join->regions);
	if (!join->total.regions || !join->regions)
		return -ENOMEM;
	join->total.n_regions = rows->n;
	for (uint32_t i = 0; i < rows->n; i++)
		take_row(join, &rows->all[i], &join->total.regions[i]);
	for (uint32_t i = 0; i < join->n_records; i++)
		for (uint32_t k = 0; k < join->records[i].n_regions; k++) {
			const struct record_region *region = &join->records[i].regions[k];
			const uint32_t at = rows_find(rows, i, region->name, k);

			join->total.regions[at].n_sockets += region->n_sockets;
			join->regions[at].has_estimates |= region->estimates != NULL;
			join->regions[at].n_parts++;
		}
	return 0;
}

static int make_room(struct join *join, uint32_t i)
{
	struct record_region *region = &join->total.regions[i];
	const bool has_estimates = join->regions[i].has_estimates;
	size_t n = region->n_sockets;

	region->sockets = calloc(n + 1, sizeof *region->sockets);
	join->regions[i].parts = calloc(join->regions[i].n_parts, sizeof(struct join_part));
	if (has_estimates)
		region->estimates =
			calloc(n * join->total.n_metrics + 1, sizeof *region->estimates);
	region->n_sockets = 0; /* counted again as nodes are added */
	join->regions[i].n_parts = 0;
	if (has_estimates && !region->estimates)
		return -ENOMEM;
	return region->sockets && join->regions[i].parts ? 0 : -ENOMEM;
}

static void join_work(const struct record_work *work, struct record_work *total)
{
	for (size_t i = 0; i < RECORD_UNITS_MAX && *work[i].unit; i++) {
		size_t k = 0;

		while (k < RECORD_UNITS_MAX && *total[k].unit &&
			strcmp(total[k].unit, work[i].unit) != 0)
			k++;
		if (k == RECORD_UNITS_MAX)
			continue;
		strcpy(total[k].unit, work[i].unit);
		total[k].amount += work[i].amount;
	}
}

static void join_numbers(const struct record_region *region, struct record_region *total)
{
	total->n_passages = join_head_add(total->n_passages, region->n_passages);
	total->n_failed = join_head_add(total->n_failed, region->n_failed);
	total->n_open = join_head_add(total->n_open, region->n_open);
	total->n_died = join_head_add(total->n_died, region->n_died);
	total->n_ranks = join_head_add(total->n_ranks, region->n_ranks);
	total->time_ns = join_head_add(total->time_ns, region->time_ns);
	total->lost_ns = join_head_add(total->lost_ns, region->lost_ns);
	total->shared_ns = join_head_add(total->shared_ns, region->shared_ns);
	total->n_stretches = join_head_add(total->n_stretches, region->n_stretches);
	total->n_measured = join_head_add(total->n_measured, region->n_measured);
	join_work(region->work, total->work);
}

/* @metric is an index of the node; UINT32_MAX: the node lacks it. */
static int copy_value(const struct record_value *values, uint32_t metric, struct record_value *ret)
{
	const char *why = NULL;

	if (metric == UINT32_MAX)
		why = "a node's platform has no such metric";
	else if (values[metric].quality & UNCORE_ABSENT)
		why = values[metric].why ? values[metric].why : "for an unknown reason";
	if (!why) {
		*ret = values[metric];
		ret->why = NULL;
		return 0;
	}
	*ret = (struct record_value){ .quality = UNCORE_ABSENT, .why = strdup(why) };
	return ret->why ? 0 : -ENOMEM;
}

static int copy_estimate(
	const struct record_estimate *estimates, uint32_t metric, struct record_estimate *ret)
{
	const char *why = "a node has none";

	if (estimates && metric != UINT32_MAX) {
		*ret = estimates[metric];
		why = estimates[metric].why;
	}
	ret->why = why ? strdup(why) : NULL;
	return why && !ret->why ? -ENOMEM : 0;
}

/* Copies a socket, which gets a new number in the sum. */
static int copy_socket(const struct record *record, const struct record_region *region,
	uint32_t socket, const struct record *total, struct record_region *ret)
{
	const struct record_socket *from = &region->sockets[socket];
	struct record_socket *to = &ret->sockets[ret->n_sockets];
	const struct record_estimate *estimates = NULL;
	int r = 0;

	*to = (struct record_socket){
		.socket = ret->n_sockets++,
		.package = from->package,
		.window_ns = from->window_ns,
		.skew_ns = from->skew_ns,
		.quantum_bytes = from->quantum_bytes,
	};
	if (region->estimates)
		estimates = &region->estimates[(size_t)socket * record->n_metrics];
	for (uint32_t i = 0; r == 0 && i < total->n_metrics; i++) {
		uint32_t metric = derived_find(record, total->metrics[i]);

		if (metric != UINT32_MAX && strcmp(record->units[metric], total->units[i]) != 0)
			metric = UINT32_MAX;
		r = copy_value(from->values, metric, &to->values[i]);
		if (r == 0 && ret->estimates)
			r = copy_estimate(estimates, metric,
				&ret->estimates[(size_t)to->socket * total->n_metrics + i]);
	}
	return r;
}

static int join_region(
	struct join *join, const struct rows *rows, uint32_t record_index, uint32_t i)
{
	const struct record *record = &join->records[record_index];
	const struct record_region *region = &record->regions[i];
	const uint32_t at = rows_find(rows, record_index, region->name, i);
	struct record_region *total = &join->total.regions[at];
	struct join_part *part = &join->regions[at].parts[join->regions[at].n_parts++];
	uint32_t first = total->n_sockets;

	join_numbers(region, total);
	*part = (struct join_part){ .record = record, .view = *region };
	part->view.sockets = &total->sockets[first];
	part->view.estimates =
		total->estimates ? &total->estimates[(size_t)first * join->total.n_metrics] : NULL;
	for (uint32_t k = 0; k < region->n_sockets; k++) {
		int r = copy_socket(record, region, k, &join->total, total);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The shared part of the window is the mean of the nodes, because the window is. */
static void average_shared(struct join *join)
{
	for (uint32_t i = 0; i < join->total.n_regions; i++)
		if (join->regions[i].n_parts)
			join->total.regions[i].shared_ns /= join->regions[i].n_parts;
}

static int join_all(struct join *join)
{
	_cleanup_(rows_done) struct rows rows = { .n_names = 0 };
	int r = 0;

	for (uint32_t i = 0; i < join->n_records; i++)
		join->n_apart += join->runs.of[i] == RUNS_APART;
	for (uint32_t i = 0; r == 0 && i < join->n_records; i++)
		r = join_head(&join->records[i], i == 0, &join->total);
	if (r == 0)
		r = rows_collect(join->records, join->n_records, &join->runs, &rows);
	if (r == 0)
		r = make_regions(join, &rows);
	for (uint32_t i = 0; r == 0 && i < join->total.n_regions; i++)
		r = make_room(join, i);
	for (uint32_t i = 0; r == 0 && i < join->n_records; i++)
		for (uint32_t k = 0; r == 0 && k < join->records[i].n_regions; k++)
			r = join_region(join, &rows, i, k);
	if (r == 0)
		average_shared(join);
	return r;
}

/* Moves @join to @ret if @r is 0, else frees it. */
static int finish(struct join *join, int r, struct join *ret)
{
	if (r == 0)
		r = join_all(join);
	if (r < 0) {
		join_done(join);
		return r;
	}
	*ret = *join;
	return 0;
}

static struct join take(struct record_list *list)
{
	const struct join join = { .records = list->records, .n_records = list->n };

	*list = (struct record_list){ .n = 0 };
	return join;
}

int join_records(struct record_list *list, struct join *ret)
{
	struct join join = take(list);

	return finish(&join, runs_find(join.records, join.n_records, &join.runs), ret);
}

int join_run(struct record_list *list, struct join *ret)
{
	struct join join = take(list);

	return finish(&join, runs_one(join.n_records, &join.runs), ret);
}

/* The place of a record among those of its host that are in no run. */
static uint32_t place_apart(const struct join *join, uint32_t record)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < record; i++)
		n += join->runs.of[i] == RUNS_APART &&
		     strcmp(join->records[i].host, join->records[record].host) == 0;
	return n;
}

void join_tag(const struct join *join, const struct record_region *region, char ret[JOIN_TAG_MAX])
{
	char host[25];

	*ret = '\0';
	if (region->run)
		snprintf(ret, JOIN_TAG_MAX, "#%" PRIu32, region->run);
	if (!region->node)
		return;
	snprintf(host, sizeof host, "%.24s", join->records[region->node - 1].host);
	host[strcspn(host, ".")] = '\0';
	text_make_plain(host);
	snprintf(ret, JOIN_TAG_MAX, "@%s#%" PRIu32, host, place_apart(join, region->node - 1));
}

struct join_imbalance join_imbalance(const struct join *join, uint32_t region, uint32_t metric)
{
	const struct join_region *parts = &join->regions[region];
	struct join_imbalance imbalance = { .ratio = NAN };
	double sum = 0, largest = -1;

	for (uint32_t i = 0; i < parts->n_parts; i++) {
		struct derived total = derived_total(&parts->parts[i].view, metric);

		if (!derived_is_known(&total))
			return (struct join_imbalance){ .ratio = NAN };
		sum += total.value;
		if (total.value <= largest)
			continue;
		largest = total.value;
		imbalance.largest = parts->parts[i].record;
	}
	if (sum > 0)
		imbalance.ratio = largest / (sum / parts->n_parts);
	return imbalance;
}

bool join_has_host(const struct join *join, const char *name)
{
	for (uint32_t i = 0; i < join->n_records; i++)
		if (hostlist_is_same(join->records[i].host, name))
			return true;
	return false;
}
