/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/join-sockets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/report/derived.h"
#include "common/array.h"

static int copy_text(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return text && !*ret ? -ENOMEM : 0;
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

static int copy_value(const struct record_value *values, uint32_t metric, struct record_value *ret)
{
	const char *why = join_why_absent(values, metric);

	if (!why) {
		*ret = values[metric];
		ret->why = NULL;
		return 0;
	}
	*ret = (struct record_value){ .quality = UNCORE_ABSENT };
	return copy_text(why, &ret->why);
}

int join_copy_socket(const struct join_source *source, const struct record_socket *from,
	struct record_region *total)
{
	struct record_socket *to;
	int r = array_room(&total->sockets, total->n_sockets, sizeof *to);

	if (r < 0)
		return r;
	to = &total->sockets[total->n_sockets];
	*to = (struct record_socket){
		.socket = total->n_sockets++,
		.package = from->package,
		.window_ns = from->window_ns,
		.skew_ns = from->skew_ns,
		.quantum_bytes = from->quantum_bytes,
		.n_others = from->n_others,
	};
	for (uint32_t i = 0; r == 0 && i < source->n_metrics; i++)
		r = copy_value(from->values, source->metrics[i], &to->values[i]);
	return r;
}

/* Can both be one? Then they lack the same values for the same reasons. */
static bool is_like(const struct join_source *source, const struct record_socket *from,
	const struct record_socket *sum)
{
	bool like = !from->window_ns == !sum->window_ns;

	for (uint32_t i = 0; like && i < source->n_metrics; i++) {
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

static void join_add_socket(const struct join_source *source, const struct record_socket *from,
	struct record_socket *sum)
{
	sum->window_ns = join_add(sum->window_ns, from->window_ns);
	sum->sums->n++;
	for (uint32_t i = 0; i < source->n_metrics; i++) {
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
}

/* Begins a sum with its first socket. */
static int begin_sum(struct record_socket *sum, uint32_t n_metrics)
{
	struct record_sums *sums = calloc(1, sizeof *sums);

	if (!sums)
		return -ENOMEM;
	sums->n = 1;
	for (uint32_t i = 0; i < n_metrics; i++)
		sums->of[i] = derived_socket(sum, i);
	sum->sums = sums;
	return 0;
}

int join_fold_socket(const struct join_source *source, const struct record_socket *from,
	struct record_region *total)
{
	int r;

	for (uint32_t i = 0; i < total->n_sockets; i++)
		if (is_like(source, from, &total->sockets[i])) {
			join_add_socket(source, from, &total->sockets[i]);
			return 0;
		}
	r = join_copy_socket(source, from, total);
	return r < 0 ? r : begin_sum(&total->sockets[total->n_sockets - 1], source->n_metrics);
}
