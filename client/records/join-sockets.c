/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/join-sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/report/derived.h"
#include "common/array.h"

void join_match_metrics(
	const struct record *total, const struct record *record, uint32_t ret[UNCORE_METRICS_MAX])
{
	for (uint32_t i = 0; i < UNCORE_METRICS_MAX; i++) {
		const uint32_t metric =
			i < total->n_metrics ? derived_find(record, total->metrics[i]) : UINT32_MAX;
		const bool is_same =
			metric != UINT32_MAX && strcmp(record->units[metric], total->units[i]) == 0;

		ret[i] = is_same ? metric : UINT32_MAX;
	}
}

/* Why there is no such value; NULL: there is one. */
static const char *join_why_absent(const struct record_value *values, uint32_t metric)
{
	if (metric == UINT32_MAX)
		return "a node's platform has no such metric";
	if (!(values[metric].quality & UNCORE_ABSENT))
		return NULL;
	return values[metric].why ? values[metric].why : "for an unknown reason";
}

static struct record_value join_borrow_value(const struct record_value *values, uint32_t metric)
{
	const char *why = join_why_absent(values, metric);

	return why ? (struct record_value){ .quality = UNCORE_ABSENT, .why = (char *)why }
		   : values[metric];
}

static int copy_value(const struct record_value *values, uint32_t metric, struct record_value *ret)
{
	*ret = join_borrow_value(values, metric);
	if (!ret->why)
		return 0;
	ret->why = strdup(ret->why);
	return ret->why ? 0 : -ENOMEM;
}

/* Adds a socket as it is. */
static int join_begin_socket(const struct join_source *source, const struct record_socket *from,
	struct record_region *total)
{
	struct record_socket *to;
	int r = array_room(&total->sockets, total->n_sockets, sizeof *to);

	if (r < 0)
		return r;
	to = &total->sockets[total->n_sockets++];
	*to = *from;
	memset(to->values, 0, sizeof to->values);
	for (uint32_t i = 0; r == 0 && i < UNCORE_METRICS_MAX; i++)
		r = copy_value(from->values, source->metrics[i], &to->values[i]);
	return r;
}

/* Can both be one? Then they have one number, and lack the same values for the same reasons. */
static bool is_like(const struct join_source *source, const struct record_socket *from,
	const struct record_socket *sum)
{
	bool like = from->socket == sum->socket && !from->window_ns == !sum->window_ns;

	for (uint32_t i = 0; like && i < UNCORE_METRICS_MAX; i++) {
		const char *why = join_why_absent(from->values, source->metrics[i]);
		const char *other = join_why_absent(sum->values, i);

		like = why && other ? strcmp(why, other) == 0 : why == other;
	}
	return like;
}

static void join_add_value(const struct record_value *part, struct record_value *sum)
{
	sum->count = join_add(sum->count, part->count);
	sum->share = join_add(sum->share, part->share);
	sum->alone = join_add(sum->alone, part->alone);
	sum->has_share &= part->has_share;
	sum->quality |= part->quality;
}

/* Begins a sum with its first socket. */
static int begin_sum(struct record_socket *sum)
{
	struct record_sums *sums = calloc(1, sizeof *sums);

	if (!sums)
		return -ENOMEM;
	sums->n = 1;
	for (uint32_t i = 0; i < UNCORE_METRICS_MAX; i++)
		sums->of[i] = derived_socket(sum, i);
	sum->sums = sums;
	return 0;
}

static int join_sum_socket(const struct join_source *source, const struct record_socket *from,
	struct record_socket *sum)
{
	if (!sum->sums && begin_sum(sum) < 0)
		return -ENOMEM;
	sum->window_ns = join_add(sum->window_ns, from->window_ns);
	sum->skew_ns = join_add(sum->skew_ns, from->skew_ns);
	sum->quantum_bytes = join_add(sum->quantum_bytes, from->quantum_bytes);
	if ((uint64_t)from->n_others > (uint64_t)sum->n_others) /* -1 is above all */
		sum->n_others = from->n_others;
	sum->sums->n++;
	for (uint32_t i = 0; i < UNCORE_METRICS_MAX; i++) {
		const uint32_t metric = source->metrics[i];
		struct record_sum part;

		if (sum->values[i].quality & UNCORE_ABSENT)
			continue;
		part = derived_socket(from, metric);
		sum->sums->of[i].bound += part.bound;
		sum->sums->of[i].rate += part.rate;
		sum->sums->of[i].rate_bound += part.rate_bound;
		join_add_value(&from->values[metric], &sum->values[i]);
	}
	return 0;
}

int join_add_socket(const struct join_source *source, const struct record_socket *from,
	struct record_region *total)
{
	for (uint32_t i = 0; i < total->n_sockets; i++)
		if (is_like(source, from, &total->sockets[i]))
			return join_sum_socket(source, from, &total->sockets[i]);
	return join_begin_socket(source, from, total);
}

/* --- a part by itself --- */

/* Mostly all nodes have the same metrics, so nothing is copied. */
int join_view(const struct record *record, const struct record *total,
	const struct record_region *region, struct record_region *ret)
{
	uint32_t metrics[UNCORE_METRICS_MAX];
	bool is_same = true;

	*ret = *region;
	ret->member_ns = NULL;
	join_match_metrics(total, record, metrics);
	for (uint32_t i = 0; i < total->n_metrics; i++)
		is_same &= metrics[i] == i;
	if (is_same)
		return 0;
	ret->sockets = calloc(region->n_sockets + 1U, sizeof *ret->sockets);
	for (uint32_t i = 0; ret->sockets && i < region->n_sockets; i++) {
		ret->sockets[i] = region->sockets[i];
		for (uint32_t k = 0; k < total->n_metrics; k++)
			ret->sockets[i].values[k] =
				join_borrow_value(region->sockets[i].values, metrics[k]);
	}
	return ret->sockets ? 0 : -ENOMEM;
}

void join_view_done(const struct record_region *region, struct record_socket *sockets)
{
	if (sockets != region->sockets)
		free(sockets);
}
