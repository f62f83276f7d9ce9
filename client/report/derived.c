/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/derived.h"

#include <math.h>
#include <string.h>

#include "common/macro.h"
#include "common/tiers.h"
#include "common/unit.h"

#define WIDE 0.02

static struct derived derived_unknown(const char *why)
{
	return (struct derived){ .value = NAN, .error = NAN, .why = why };
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);

	return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

#define PREFIX(tier) tier "."

bool derived_is_memory(const struct record *record, uint32_t metric)
{
	static const char *const prefixes[] = { TIERS(PREFIX) };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(record->metrics[metric], prefixes[i], strlen(prefixes[i])) == 0)
			return unit_is_bytes(record->units[metric]);
	return false;
}

uint32_t derived_find(const struct record *record, const char *metric)
{
	for (uint32_t i = 0; i < record->n_metrics; i++)
		if (strcmp(record->metrics[i], metric) == 0)
			return i;
	return UINT32_MAX;
}

/* --- brackets --- */

struct derived_bracket derived_bracket(const struct record_region *region, uint32_t metric)
{
	struct derived_bracket sum = {
		.is_known = region->n_sockets > 0,
		.has_hole = record_has_hole(region),
	};

	for (uint32_t i = 0; i < region->n_sockets; i++) {
		const struct record_value *value = &region->sockets[i].values[metric];

		sum.is_known &= value->has_share && !(value->quality & UNCORE_ABSENT);
		sum.alone += (double)value->alone;
		sum.all += (double)value->count;
	}
	return sum;
}

bool derived_is_wide(const struct derived_bracket *bracket)
{
	return bracket->is_known && bracket->all - bracket->alone > WIDE * bracket->all;
}

/* --- sums --- */

double derived_bound(const struct record_socket *socket, const struct record_value *value)
{
	const double quantum = (double)socket->quantum_bytes;

	if (socket->sums)
		return socket->sums->of[value - socket->values].bound;
	if (!socket->window_ns)
		return value->count ? NAN : quantum;
	return (double)value->count * (double)socket->skew_ns / (double)socket->window_ns + quantum;
}

/* The region's own, as far as is known. */
static double own_of(const struct record_value *value)
{
	return (double)(value->has_share ? value->share : value->count);
}

struct record_sum derived_socket(const struct record_socket *socket, uint32_t metric)
{
	const struct record_value *value = &socket->values[metric];
	const double window_ns = (double)socket->window_ns, bound = derived_bound(socket, value);

	if (socket->sums)
		return socket->sums->of[metric];
	return (struct record_sum){ bound, own_of(value) / window_ns, bound / window_ns };
}

/* How far the region's own bytes may be from its share. */
static double derived_width_of(const struct record_region *region, uint32_t metric, double share)
{
	const struct derived_bracket bracket = derived_bracket(region, metric);

	return bracket.is_known ? fmax(bracket.all - share, share - bracket.alone) : 0;
}

struct derived derived_total(const struct record_region *region, uint32_t metric)
{
	struct derived sum = { .value = 0 };

	if (!region->n_sockets)
		return derived_unknown("the region has no figures");
	for (uint32_t i = 0; i < region->n_sockets; i++) {
		const struct record_socket *socket = &region->sockets[i];
		const struct record_value *value = &socket->values[metric];

		if (value->quality & UNCORE_ABSENT)
			return derived_unknown(value->why ? value->why : "for an unknown reason");
		sum.value += own_of(value);
		sum.error += derived_bound(socket, value);
		sum.quality |= value->quality;
	}
	sum.error += derived_width_of(region, metric, sum.value);
	return sum;
}

struct derived derived_rate(const struct record_region *region, uint32_t metric)
{
	struct derived sum = derived_total(region, metric);

	if (!derived_is_known(&sum))
		return sum;
	sum.value = sum.error = 0;
	for (uint32_t i = 0; i < region->n_sockets; i++) {
		const struct record_socket *socket = &region->sockets[i];

		const struct record_sum each = derived_socket(socket, metric);

		if (!socket->window_ns)
			return derived_unknown("the region was open for no time");
		sum.value += each.rate;
		sum.error += each.rate_bound;
	}
	return sum;
}

static bool is_absent_everywhere(const struct record_region *region, uint32_t metric)
{
	for (uint32_t i = 0; i < region->n_sockets; i++)
		if (!(region->sockets[i].values[metric].quality & UNCORE_ABSENT))
			return false;
	return true;
}

static void derived_add(struct derived *sum, const struct derived *part)
{
	if (!derived_is_known(sum))
		return;
	if (!derived_is_known(part)) {
		*sum = *part;
		return;
	}
	sum->value += part->value;
	sum->error += part->error;
	sum->quality |= part->quality;
}

/* The sum of all memory metrics that end with @end and that some socket has. */
static struct derived derived_sum_of(
	const struct record *record, const struct record_region *region, const char *end)
{
	struct derived sum = { .value = 0 };
	bool any = false;

	for (uint32_t i = 0; i < record->n_metrics; i++) {
		struct derived part;

		if (!derived_is_memory(record, i) || !ends_with(record->metrics[i], end) ||
			is_absent_everywhere(region, i))
			continue;
		part = derived_total(region, i);
		derived_add(&sum, &part);
		any = true;
	}
	return any ? sum : derived_unknown("no socket counts them");
}

static struct derived reads_of(const struct record *record, const struct record_region *region)
{
	return derived_sum_of(record, region, ".read");
}

struct derived derived_writes(const struct record *record, const struct record_region *region)
{
	return derived_sum_of(record, region, ".write");
}

/* Only machines that cannot distinguish reads from writes have a total. */
struct derived derived_volume(const struct record *record, const struct record_region *region)
{
	struct derived sum = reads_of(record, region);
	struct derived writes = derived_writes(record, region);

	if (!derived_is_known(&sum) && !derived_is_known(&writes))
		return derived_sum_of(record, region, ".total");
	derived_add(&sum, &writes);
	return sum;
}

/* --- quotients --- */

/* The worst case: as much above and as little below as the bounds allow. */
static struct derived ratio_of(struct derived above, struct derived below)
{
	struct derived ratio = { .quality = above.quality | below.quality };

	if (!derived_is_known(&above))
		return above;
	if (!derived_is_known(&below))
		return below;
	if (!(below.value > 0))
		return derived_unknown("the divisor is 0");
	ratio.value = above.value / below.value;
	ratio.error =
		below.error < below.value
			? (above.value + above.error) / (below.value - below.error) - ratio.value
			: NAN;
	return ratio;
}

struct derived derived_per_passage(const struct record_region *region, struct derived total)
{
	double n = (double)region->n_passages - (double)region->n_failed;
	struct derived each = total;

	if (!derived_is_known(&total))
		return total;
	if (!(n > 0))
		return derived_unknown("no passage has ended with figures");
	each.value /= n;
	each.error = (total.error +
			     total.value * (double)region->n_died / (n + (double)region->n_died)) /
		     n;
	return each;
}

struct derived derived_per_work(const struct record_work *work, struct derived total)
{
	return ratio_of(total, (struct derived){ .value = work->amount });
}

struct derived derived_of_predicted(const struct record_work *work, struct derived total)
{
	return ratio_of(total, (struct derived){ .value = work->amount * work->predicted });
}

struct derived derived_read_write(const struct record *record, const struct record_region *region)
{
	return ratio_of(reads_of(record, region), derived_writes(record, region));
}

const struct record_work *derived_stored(const struct record_region *region)
{
	for (size_t i = 0; i < RECORD_UNITS_MAX && *region->work[i].unit; i++)
		if (strcmp(region->work[i].unit, DERIVED_STORED) == 0)
			return &region->work[i];
	return NULL;
}

struct derived derived_store_ratio(const struct record *record, const struct record_region *region)
{
	const struct record_work *stored = derived_stored(region);

	if (!stored)
		return derived_unknown("the program did not say how many bytes it stored");
	return derived_per_work(stored, derived_volume(record, region));
}

struct derived derived_evaded(const struct record *record, const struct record_region *region)
{
	uint32_t specitom = derived_find(record, "specitom");

	if (specitom == UINT32_MAX)
		return derived_unknown("this platform has no metric specitom");
	return ratio_of(derived_total(region, specitom), derived_writes(record, region));
}

/* --- windows --- */

uint64_t derived_window_ns(const struct record_region *region)
{
	double sum_ns = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < region->n_sockets; i++)
		n += region->sockets[i].sums ? region->sockets[i].sums->n : 1;
	for (uint32_t i = 0; i < region->n_sockets; i++)
		sum_ns += (double)region->sockets[i].window_ns / n;
	return (uint64_t)llround(sum_ns);
}

/* --- what it cost --- */

double derived_cost_ns(const struct record *record)
{
	const struct record_cost *cost = &record->cost;
	double n_others = -(double)cost->n_reading, each_ns = 0;

	for (uint32_t i = 0; i < record->n_regions; i++)
		n_others += 2 * (double)record->regions[i].n_passages;
	if (cost->n_timed)
		each_ns = (double)cost->timed_ns / (double)cost->n_timed;
	else if (n_others > 0 || !cost->n_reading)
		return NAN;
	return (double)cost->reading_ns + each_ns * fmax(n_others, 0);
}

double derived_worst_error(const struct record *record, const struct record_region *region)
{
	double worst = NAN;

	for (uint32_t i = 0; i < record->n_metrics; i++) {
		struct derived total = derived_total(region, i);

		if (derived_is_memory(record, i) && derived_is_known(&total) && total.value > 0)
			worst = fmax(worst, total.error / total.value);
	}
	return worst;
}
