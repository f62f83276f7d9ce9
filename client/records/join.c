/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/join.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/records/join-sockets.h"
#include "client/report/columns.h"
#include "client/report/derived.h"
#include "common/array.h"
#include "common/macro.h"
#include "common/text.h"

void join_done(struct join *join)
{
	for (uint32_t i = 0; join->regions && i < join->total.n_regions; i++) {
		free(join->regions[i].parts);
		free(join->regions[i].counts);
		ranks_done(&join->regions[i].ranks);
	}
	free(join->regions);
	record_done(&join->total);
	for (uint32_t i = 0; join->records && i < join->n_records; i++)
		record_done(&join->records[i]);
	free(join->records);
	free(join->places);
	names_done(&join->hosts);
	names_done(&join->names);
	names_done(&join->rows);
	runs_done(&join->runs);
	*join = (struct join){};
}

/* --- numbers --- */

/* False: there is no room for all units. */
static bool join_work(const struct record_work *work, struct record_work *total)
{
	bool whole = true;

	for (size_t i = 0; i < RECORD_UNITS_MAX && *work[i].unit; i++) {
		size_t k = 0;

		while (k < RECORD_UNITS_MAX && *total[k].unit &&
			strcmp(total[k].unit, work[i].unit) != 0)
			k++;
		whole &= k < RECORD_UNITS_MAX;
		if (k == RECORD_UNITS_MAX)
			continue;
		strcpy(total[k].unit, work[i].unit);
		total[k].amount += work[i].amount;
		total[k].predicted = work[i].predicted;
	}
	return whole;
}

static void join_numbers(const struct record_region *region, struct record_region *total)
{
	total->n_passages = join_add(total->n_passages, region->n_passages);
	total->n_failed = join_add(total->n_failed, region->n_failed);
	total->n_open = join_add(total->n_open, region->n_open);
	total->n_died = join_add(total->n_died, region->n_died);
	total->n_ranks = join_add(total->n_ranks, region->n_ranks);
	total->time_ns = join_add(total->time_ns, region->time_ns);
	total->lost_ns = join_add(total->lost_ns, region->lost_ns);
	total->shared_ns = join_add(total->shared_ns, region->shared_ns);
	for (uint32_t i = 0; i < region->n_sockets; i++) /* -1 is above all */
		if ((uint64_t)region->sockets[i].n_others > (uint64_t)total->n_others)
			total->n_others = region->sockets[i].n_others;
}

/* --- regions --- */

/* Adds an empty region to the sum. */
static int join_add_region(struct join *join, const struct join_source *source, const char *name)
{
	const uint32_t n = join->total.n_regions;
	const int64_t number = names_add(&join->names, name);
	struct record_region *total;

	if (number < 0 || array_room(&join->total.regions, n, sizeof *total) < 0 ||
		array_room(&join->regions, n, sizeof *join->regions) < 0)
		return -ENOMEM;
	total = &join->total.regions[n];
	*total = (struct record_region){ .n_sockets = 0 };
	strcpy(total->name, name);
	if (source->group >= join->runs.n_runs)
		total->node = source->place + 1;
	else if (join->runs.n_runs > 1)
		total->run = source->group + 1;
	join->regions[n] = (struct join_region){
		.name = (uint32_t)number,
		.group = source->group,
		.n_metrics = join->total.n_metrics,
	};
	join->total.n_regions++;
	return 0;
}

/* The place of the region of the sum, which is made if it is missing; -ENOMEM. */
static int64_t join_find_region(
	struct join *join, const struct join_source *source, const char *name)
{
	char row[RECORD_NAME_BYTES + 16];
	int64_t at;

	snprintf(row, sizeof row, "%" PRIu32 ".%s", source->group, name);
	at = names_add(&join->rows, row);
	if (at == join->total.n_regions && join_add_region(join, source, name) < 0)
		return -ENOMEM;
	return at;
}

/* What the part counted, as far as it is known. */
static int add_counts(const struct join_source *source, const struct record_region *from,
	struct join_region *region)
{
	const size_t n = region->n_metrics;
	double *counts;
	int r = array_room(&region->counts, region->n_parts, (n + 1) * sizeof *counts);

	counts = region->counts + region->n_parts * n;
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		const uint32_t metric = source->metrics[i];
		struct derived total = { .why = "" };

		if (metric != UINT32_MAX)
			total = derived_total(from, metric);
		counts[i] = derived_is_known(&total) ? total.value : NAN;
	}
	return r;
}

static int join_part(
	struct join *join, const struct join_source *source, const struct record_region *from)
{
	const int64_t at = join_find_region(join, source, from->name);
	struct join_region *region = &join->regions[at];
	struct record_region *total = &join->total.regions[at];
	int r = at < 0 ? (int)at : add_counts(source, from, region);

	if (r == 0)
		r = array_room(&region->parts, region->n_parts, sizeof *region->parts);
	if (r < 0)
		return r;
	/* A row's longest title says most: what was left out there. */
	if (from->title &&
		(!total->title || (from->is_row && strlen(from->title) > strlen(total->title)))) {
		free(total->title);
		total->title = strdup(from->title); /* the name alone tells less, and is enough */
	}
	join_numbers(from, total);
	r = join_misses(&from->misses, !region->n_parts, &total->misses) ? 0 : -ENOMEM;
	region->lacks_work |= !join_work(from->work, total->work);
	region->parts[region->n_parts++] = (struct join_part){
		source->place,
		from->n_sockets,
		join->is_folded ? NULL : from,
		derived_window_ns(from),
	};
	if (r == 0 && from->member_ns && join->n_ranks <= JOIN_RANKS_MOST) {
		join->n_ranks += source->record->n_members;
		r = ranks_add(&region->ranks, source->record, from, source->place);
	}
	for (uint32_t i = 0; r == 0 && i < from->n_sockets; i++)
		r = join_add_socket(source, &from->sockets[i], total);
	return r;
}

static int join_record(struct join *join, uint32_t place, uint32_t group)
{
	const struct record *record = &join->records[place];
	struct join_source source = { .record = record, .place = place, .group = group };
	int r = names_add(&join->hosts, record->host) < 0 ? -ENOMEM : 0;

	if (r < 0 || record->beside)
		return r;
	join_match_metrics(&join->total, record, source.metrics);
	for (uint32_t i = 0; r == 0 && i < record->n_regions; i++)
		r = join_part(join, &source, &record->regions[i]);
	return r;
}

/* --- several runs --- */

static int join_compare(const void *a, const void *b)
{
	const struct join_region *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

/* Regions of a name become neighbours. */
static int sort_regions(struct join *join)
{
	const uint32_t n = join->total.n_regions;
	struct record_region *sorted = calloc(n + 1U, sizeof *sorted);
	char row[RECORD_NAME_BYTES + 16];

	if (!sorted)
		return -ENOMEM;
	if (n)
		qsort(join->regions, n, sizeof *join->regions, join_compare);
	for (uint32_t i = 0; i < n; i++) {
		const struct join_region *region = &join->regions[i];

		snprintf(row, sizeof row, "%" PRIu32 ".%s", region->group,
			join->names.all[region->name]);
		sorted[i] = join->total.regions[names_add(&join->rows, row)];
	}
	free(join->total.regions);
	join->total.regions = sorted;
	return 0;
}

static int join_find_places(struct join *join)
{
	_cleanup_free_ uint32_t *n_of_machine =
		calloc(join->runs.n_machines + 1U, sizeof *n_of_machine);

	join->places = calloc(join->n_records, sizeof *join->places);
	if (!n_of_machine || !join->places)
		return -ENOMEM;
	for (uint32_t i = 0; i < join->n_records; i++)
		if (join->runs.of[i] == RUNS_APART && !join->records[i].beside)
			join->places[i] = ++n_of_machine[join->records[i].machine];
	return 0;
}

/* --- the whole --- */

static int join_end(struct join *join)
{
	int r = sort_regions(join);

	if (join->total.rows && !join_is_job(join))
		join->total.batch = (struct record_batch){ .uid = -1, .seconds = NAN };
	/* The shared part of the window is the mean of the nodes, because the window is. */
	for (uint32_t i = 0; r == 0 && i < join->total.n_regions; i++)
		join->total.regions[i].shared_ns /= join->regions[i].n_parts;
	return r < 0 ? r : join_find_places(join);
}

static int join_all(struct join *join)
{
	const uint32_t *of = join->runs.of;
	bool first = true;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < join->n_records; i++)
		if (!join->records[i].beside) {
			join_head(&join->records[i], first, join);
			first = false;
		}
	for (uint32_t i = 0; r == 0 && i < join->n_records; i++) {
		const bool is_apart = of[i] == RUNS_APART && !join->records[i].beside;

		join->n_apart += is_apart;
		r = join_record(join, i, is_apart ? join->runs.n_runs + i : of[i]);
	}
	return r < 0 ? r : join_end(join);
}

int join_records(struct record_list *list, bool is_one_run, struct join *ret)
{
	_cleanup_(join_done) struct join join = { .records = list->records, .n_records = list->n };
	int r = (is_one_run ? runs_one : runs_find)(join.records, join.n_records, &join.runs);

	*list = (struct record_list){ .n = 0 };
	join.hosts.of_hosts = true;
	if (r == 0)
		r = join_all(&join);
	if (r < 0)
		return r;
	*ret = join;
	join = (struct join){};
	return 0;
}

int join_fold(struct join *join, struct record *record)
{
	struct record_list list = { join->records, join->n_records };
	int r = record_list_add(&list, record);
	struct record *head;

	if (r < 0)
		return r;
	join->is_folded = true;
	join->runs.n_runs = 1; /* as long as nothing else is known */
	join->records = list.records;
	join->hosts.of_hosts = true;
	head = &join->records[join->n_records++];
	join_head(head, join->n_records == 1, join);
	r = join_record(join, join->n_records - 1, 0);
	record_drop_regions(head);
	free(take_ptr(head->members));
	return r;
}

int join_end_folding(struct join *join)
{
	int r = runs_find(join->records, join->n_records, &join->runs);

	if (r < 0)
		return r;
	for (uint32_t i = 0; i < join->n_records; i++)
		if (join->runs.of[i] || join->records[i].beside)
			return -EXDEV;
	return join_end(join);
}

void join_short_host(const struct record *record, char *ret_host, size_t size_bytes)
{
	snprintf(ret_host, size_bytes, "%.*s", (int)strcspn(record->host, "."), record->host);
	text_make_plain(ret_host);
}

void join_tag(const struct join *join, const struct record_region *region, char ret[JOIN_TAG_MAX])
{
	char host[25];

	*ret = '\0';
	if (region->run)
		snprintf(ret, JOIN_TAG_MAX, "#%" PRIu32, region->run);
	if (!region->node)
		return;
	join_short_host(&join->records[region->node - 1], host, sizeof host);
	snprintf(ret, JOIN_TAG_MAX, "@%s#%" PRIu32, host, join->places[region->node - 1]);
}

struct record_region join_row(const struct join *join, uint32_t i)
{
	struct record_region row = join->total.regions[i];
	char tag[JOIN_TAG_MAX];

	join_tag(join, &row, tag);
	snprintf(row.name, sizeof row.name, "%.*s%s", (int)(sizeof row.name - 1 - strlen(tag)),
		join->total.regions[i].name, tag);
	return row;
}

void join_write_name(const struct join *join, uint32_t i, char *ret_text)
{
	columns_name(join_row(join, i).name, ret_text);
}

struct join_imbalance join_imbalance(const struct join *join, uint32_t region, uint32_t metric)
{
	const struct join_region *parts = &join->regions[region];
	struct join_imbalance imbalance = { .ratio = NAN };
	double sum = 0, largest = -1;

	for (uint32_t i = 0; i < parts->n_parts; i++) {
		const struct record *node = &join->records[parts->parts[i].record];
		const double count = join_count(parts, i, metric);

		if (isnan(count))
			return (struct join_imbalance){ .ratio = NAN };
		sum += count;
		if (count < largest ||
			(count == largest && strcmp(node->host, imbalance.largest->host) >= 0))
			continue; /* whatever their order is */
		largest = count;
		imbalance.largest = node;
	}
	if (sum > 0)
		imbalance.ratio = largest / (sum / parts->n_parts);
	return imbalance;
}
