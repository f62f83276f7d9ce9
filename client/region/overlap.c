/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/overlap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/region/observe.h"
#include "client/report/derived.h"
#include "common/macro.h"

/* A region that shared less of its window gets no estimate: its exact value is as good. */
#define SHARE_LEAST 0.01

static_assert(ESTIMATE_REGIONS_MAX == 64, "a sentence below says so");

static bool is_shared(const struct record_region *region)
{
	return region->n_sockets &&
	       (double)region->shared_ns > SHARE_LEAST * (double)region->sockets[0].window_ns;
}

/* --- sentences --- */

static void name_column(FILE *out, const struct record *record, unsigned column)
{
	if (column < record->n_regions && column < ESTIMATE_REGIONS_MAX)
		fprintf(out, "\"%s\"", record->regions[column].name);
	else
		fprintf(out, column == ESTIMATE_WALL ? "the background" : "the time outside");
}

static void write_partners(
	FILE *out, const struct record *record, const struct estimate_group *group, unsigned column)
{
	bool follows = false;

	for (uint32_t i = 0; i < group->n_columns && i < ESTIMATE_COLUMNS; i++) {
		if (group->columns[i] == column)
			continue;
		if (follows)
			fprintf(out, ", ");
		name_column(out, record, group->columns[i]);
		follows = true;
	}
}

static void write_group(
	FILE *out, const struct record *record, const struct estimate_group *group, unsigned column)
{
	fprintf(out, "it cannot be told apart from ");
	write_partners(out, record, group, column);
	fprintf(out, "; together %.4g bytes", group->sum.bytes);
	if (!isnan(group->sum.bytes_error))
		fprintf(out, " +- %.2g", group->sum.bytes_error);
}

static void write_flags(
	FILE *out, const struct estimate_result *result, const struct estimate_value *value)
{
	if (isnan(value->bytes_error) && value->state == ESTIMATE_KNOWN)
		fprintf(out, "its error is not known: it was seen for too short. ");
	if (isnan(value->rate_bound) && value->state == ESTIMATE_BOUND)
		fprintf(out, "it seems to move nothing, but was seen for too short to say how much "
			     "at most. ");
	if (value->not_steady)
		fprintf(out, "not steady: its rate differs between the halves of the run. ");
	if (result->not_additive)
		fprintf(out, "not additive: rates change with the load, as at a saturated "
			     "controller, and the error is too small. ");
}

/* --- values --- */

struct solved {
	struct estimate_result result;
	const char *why_none; /* NULL: there is a result */
};

static bool has_column(const struct solved *solved, unsigned region)
{
	return !solved->why_none && region < ESTIMATE_REGIONS_MAX;
}

static void write_why(
	FILE *out, const struct record *record, const struct solved *solved, unsigned region)
{
	const struct estimate_value *value;

	if (!has_column(solved, region)) {
		fprintf(out, "%s",
			solved->why_none ? solved->why_none
					 : "only the first 64 regions are estimated");
		return;
	}
	value = &solved->result.values[region];
	if (value->state == ESTIMATE_NO_DATA)
		fprintf(out, "nobody was seen inside this region alone");
	else if (value->state == ESTIMATE_NOT_SEPARABLE && value->group < solved->result.n_groups)
		write_group(out, record, &solved->result.groups[value->group], region);
	else
		write_flags(out, &solved->result, value);
}

static int say_why(const struct record *record, const struct solved *solved, unsigned column,
	struct record_estimate *ret)
{
	size_t size_bytes;
	FILE *out = open_memstream(&ret->why, &size_bytes);

	if (!out)
		return -ENOMEM;
	write_why(out, record, solved, column);
	if (fclose(out) == EOF)
		return -ENOMEM;
	while (size_bytes && ret->why[size_bytes - 1] == ' ')
		ret->why[--size_bytes] = '\0';
	if (!size_bytes) {
		free(ret->why);
		ret->why = NULL;
	}
	return 0;
}

static void take_value(const struct solved *solved, unsigned column, struct record_estimate *ret)
{
	const struct estimate_value *value;

	ret->error = NAN;
	if (!has_column(solved, column))
		return;
	value = &solved->result.values[column];
	ret->is_known = value->state == ESTIMATE_KNOWN || value->state == ESTIMATE_BOUND;
	ret->is_bound = value->state == ESTIMATE_BOUND;
	ret->count = ret->is_bound ? value->rate_bound * value->time_s : value->bytes;
	ret->error = ret->is_bound ? 0 : value->bytes_error;
	if (isnan(ret->count))
		ret->is_known = false;
}

/* The index of @socket in @region, which has only the sockets that were measured. */
static uint32_t place_of(const struct record_region *region, uint32_t socket)
{
	uint32_t i = 0;

	while (i < region->n_sockets && region->sockets[i].socket != socket)
		i++;
	return i;
}

static int fill(struct record *record, unsigned socket, unsigned metric, struct solved *solved)
{
	int r = 0;

	for (unsigned i = 0; i < record->n_regions && r == 0; i++) {
		struct record_region *region = &record->regions[i];
		const uint32_t place = place_of(region, socket);
		struct record_estimate *ret;

		if (!region->estimates || place == region->n_sockets)
			continue;
		if (region->sockets[place].values[metric].quality & UNCORE_ABSENT)
			solved->why_none = "the metric is absent";
		ret = &region->estimates[(size_t)place * record->n_metrics + metric];
		take_value(solved, i, ret);
		r = say_why(record, solved, i, ret);
	}
	return r;
}

/* --- all --- */

static int make_room(struct record *record, bool *ret_any)
{
	for (unsigned i = 0; i < record->n_regions; i++) {
		struct record_region *region = &record->regions[i];

		if (!is_shared(region))
			continue;
		region->estimates = calloc(
			(size_t)region->n_sockets * record->n_metrics, sizeof *region->estimates);
		if (!region->estimates)
			return -ENOMEM;
		*ret_any = true;
	}
	return 0;
}

static int solve(const struct estimate *estimate, const struct record *record, uint32_t socket,
	uint32_t metric, struct solved *ret)
{
	int r = 0;

	ret->why_none = "only the traffic of memory is estimated";
	if (!derived_is_memory(record->metrics[metric]))
		return 0;
	r = estimate_solve(estimate, socket, metric, &ret->result);
	ret->why_none = r < 0 ? "the regions were observed too seldom" : NULL;
	return r == -ENOMEM ? r : 0;
}

static int solve_all(const struct estimate *estimate, struct record *record)
{
	_cleanup_free_ struct solved *solved = calloc(1, sizeof *solved);
	int r = solved ? 0 : -ENOMEM;

	for (uint32_t s = 0; s < estimate->n_sockets && r == 0; s++)
		for (uint32_t m = 0; m < record->n_metrics && r == 0; m++) {
			r = solve(estimate, record, s, m, solved);
			if (r == 0)
				r = fill(record, s, m, solved);
		}
	return r;
}

int overlap_estimate(const struct table *table, struct record *record)
{
	struct estimate estimate;
	bool any = false;
	int r;

	if (!observe_sums(table, &estimate))
		return 0;
	r = make_room(record, &any);
	return r < 0 || !any ? r : solve_all(&estimate, record);
}
