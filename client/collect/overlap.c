/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/collect/overlap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/region/observe.h"
#include "client/region/outside.h"
#include "client/report/derived.h"
#include "client/report/quantity.h"
#include "common/macro.h"

/* A region that shared less of its window gets no estimate: its exact value is as good. */
#define SHARE_LEAST 0.01

/* An estimate with a larger error says less than the bracket. */
#define ERROR_MOST 0.5

static_assert(ESTIMATE_REGIONS_MAX == 64, "a sentence below says so");

/* --- the bracket --- */

/* Is part of the region's traffic not in its sums? */
static bool has_hole(const struct record_region *region)
{
	return region->lost_ns || region->n_failed || region->n_open || region->n_died;
}

/* What the region moved at least while it was alone. */
static double low_of(const struct table *table, const struct table_record *sums, uint32_t socket,
	uint32_t metric)
{
	const struct table_socket *from = &sums->sockets[socket];
	const double windows = (double)from->alone_windows[metric];
	const uint64_t all_ns = from->alone_ns;
	const uint64_t windows_ns = sums->alone_window_ns < all_ns ? sums->alone_window_ns : all_ns;
	const double others = outside_most(
		table, socket, metric, (struct outside_time){ .time_ns = all_ns - windows_ns });
	const double others_in_windows = outside_most(table, socket, metric,
		(struct outside_time){ .time_ns = windows_ns, .n_gaps = sums->alone_gaps });
	const double exact = (double)from->alone[metric] - windows;
	/* A burst of others hardly comes in each window. */
	const double least = (double)from->least[metric] * (double)sums->alone_stretches;
	double low = isnan(others) ? 0 : fmax(0, exact - others);

	if (windows > 0 && !isnan(others_in_windows))
		low += fmax(0, fmin(windows - others_in_windows, least));
	return low;
}

void overlap_bracket(const struct overlap *overlap, const struct record_socket *socket,
	uint32_t metric, struct record_value *value)
{
	const struct table_record *sums = overlap->sums;
	const struct table_socket *from = &sums->sockets[socket->socket];
	const double low = low_of(overlap->table, sums, socket->socket, metric);
	const double most = (double)from->sums[metric].count - (double)from->foreign[metric] +
			    (double)from->stale[metric] + derived_skew(socket, value);

	value->own = (struct record_own){
		.is_known = true,
		.alone = (double)from->alone[metric],
		.low = low,
		.high = has_hole(overlap->region) ? NAN : most,
		.own = NAN,
	};
}

/* --- values --- */

struct solved {
	struct estimate_result result;
	const char *why_none; /* NULL: there is a result */
};

static bool is_shared(const struct record_region *region)
{
	return region->n_sockets &&
	       (double)region->shared_ns > SHARE_LEAST * (double)region->sockets[0].window_ns;
}

/* Why there is no estimate of a column that has a value. NULL: there is one. */
static const char *why_not(const struct estimate_result *result, const struct estimate_value *value,
	const struct record_own *own)
{
	if (value->state == ESTIMATE_NOT_SEPARABLE)
		return "bracket only: it cannot be told apart from other regions";
	if (value->state == ESTIMATE_NO_DATA)
		return "bracket only: nobody was seen inside this region alone";
	if (isnan(value->bytes_error) || isnan(value->model_error))
		return "bracket only: too short";
	if (value->not_steady)
		return "bracket only: its rate drifts";
	if (!result->is_additive)
		return "bracket only: rates vary, or change with the load as at a saturated "
		       "controller";
	if (value->state == ESTIMATE_BOUND ||
		!(value->bytes_error + value->model_error <= ERROR_MOST * value->bytes))
		return "bracket only: too noisy";
	if (value->bytes < own->low || value->bytes > own->high)
		return "bracket only: the estimate contradicts the bracket";
	return NULL;
}

static int say(const char *why, struct record_own *own)
{
	own->absent = strdup(why);
	return own->absent ? 0 : -ENOMEM;
}

static int fill_own(const struct table *table, const struct record *record,
	const struct solved *solved, unsigned region, struct record_own *own)
{
	const struct estimate_value *value;
	const char *why;

	if (!is_shared(&record->regions[region]))
		return say("bracket only: no other region was open for most of its time", own);
	if (!*table->header.name)
		return say("bracket only: only regions of teams are estimated", own);
	if (solved->why_none)
		return say(solved->why_none, own);
	if (__atomic_load_n(&table->regions[region].has_spans, __ATOMIC_RELAXED))
		return say("bracket only: a thread may be in several spans at once", own);
	if (region >= ESTIMATE_REGIONS_MAX)
		return say("bracket only: only the first 64 regions are estimated", own);
	value = &solved->result.values[region];
	why = why_not(&solved->result, value, own);
	if (why)
		return say(why, own);
	own->own = value->bytes;
	own->error = value->bytes_error;
	own->model_error = value->model_error;
	return 0;
}

/* The index of @socket in @region, which has only the sockets that were measured. */
static uint32_t place_of(const struct record_region *region, uint32_t socket)
{
	uint32_t i = 0;

	while (i < region->n_sockets && region->sockets[i].socket != socket)
		i++;
	return i;
}

static int fill(const struct table *table, struct record *record, unsigned socket, unsigned metric,
	const struct solved *solved)
{
	int r = 0;

	for (unsigned i = 0; i < record->n_regions && r == 0; i++) {
		struct record_region *region = &record->regions[i];
		const uint32_t place = place_of(region, socket);
		struct record_own *own;

		if (place == region->n_sockets)
			continue;
		own = &region->sockets[place].values[metric].own;
		if (own->is_known)
			r = fill_own(table, record, solved, i, own);
	}
	return r;
}

/* --- all --- */

/* One metric on each socket, and then of all together. */
struct family {
	struct solved *solved;
	uint32_t n;
	bool is_observed; /* was there ever anything to sum up? */
};

/* The sum of all sockets chooses the model. */
static int solve(const struct estimate *estimate, uint32_t metric, const struct family *family)
{
	const uint32_t last = family->n - 1;
	struct solved *sum = &family->solved[last];
	int r = family->is_observed ? estimate_solve(estimate, last, metric, &sum->result)
				    : -ENODATA;

	sum->why_none = r < 0 ? "bracket only: too short" : NULL;
	for (uint32_t s = 0; s < last && r != -ENOMEM; s++) {
		struct solved *part = &family->solved[s];

		part->why_none = sum->why_none;
		if (sum->why_none)
			continue;
		r = estimate_solve_like(estimate, s, metric, &sum->result, &part->result);
		part->why_none = r < 0 ? "bracket only: too short" : NULL;
	}
	return r == -ENOMEM ? r : 0;
}

static struct estimate_value *value_of(
	const struct family *family, uint32_t socket, unsigned region)
{
	return &family->solved[socket].result.values[region];
}

/*
 * The sum of all sockets is known much better than its parts. So the parts take up what they lack,
 * each as its error allows, and share the error of the model.
 */
static void agree(const struct family *family, unsigned region)
{
	const struct estimate_value *sum = value_of(family, family->n - 1, region);
	double squares = 0, rest = sum->bytes;

	for (uint32_t s = 0; s + 1 < family->n; s++) {
		const struct estimate_value *part = value_of(family, s, region);

		if (family->solved[s].why_none)
			continue;
		squares += part->bytes_error * part->bytes_error;
		rest -= part->bytes;
	}
	for (uint32_t s = 0; s + 1 < family->n; s++) {
		struct estimate_value *part = value_of(family, s, region);

		if (sum->state != ESTIMATE_KNOWN)
			part->state = sum->state;
		part->not_steady |= sum->not_steady;
		if (squares > 0)
			part->bytes += rest * part->bytes_error * part->bytes_error / squares;
		part->model_error = sum->model_error * part->bytes / sum->bytes;
	}
}

static void agree_all(const struct family *family)
{
	for (unsigned i = 0; i < ESTIMATE_REGIONS_MAX; i++)
		agree(family, i);
	for (uint32_t s = 0; s + 1 < family->n; s++)
		family->solved[s].result.is_additive =
			family->solved[family->n - 1].result.is_additive;
}

static int fill_metric(const struct table *table, struct record *record, unsigned metric,
	const struct family *family)
{
	const uint32_t n_sockets = family->n > 1 ? family->n - 1 : 1;
	int r = 0;

	for (uint32_t s = 0; s < n_sockets && r == 0; s++)
		r = fill(table, record, s, metric, &family->solved[s]);
	return r;
}

int overlap_estimate(const struct table *table, struct record *record)
{
	_cleanup_free_ struct solved *room = NULL;
	struct estimate estimate;
	struct family family;
	int r = 0;

	if (!observe_sums(table, &estimate))
		return 0;
	room = calloc(estimate.n_sockets, sizeof *room);
	if (!room)
		return -ENOMEM;
	family = (struct family){ room, estimate.n_sockets, observe_was_any(table) };
	for (uint32_t m = 0; m < record->n_metrics && m < estimate.n_metrics && r == 0; m++) {
		if (!derived_is_memory(record, m))
			continue;
		r = solve(&estimate, m, &family);
		if (r == 0) {
			agree_all(&family);
			r = fill_metric(table, record, m, &family);
		}
	}
	return r;
}
