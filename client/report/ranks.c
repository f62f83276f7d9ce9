/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "client/report/quantity.h"
#include "common/array.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

int ranks_add(struct ranks *ranks, const struct record *record, const struct record_region *region,
	uint32_t place)
{
	const uint32_t n = region->member_ns && record->members ? record->n_members : 0;

	if (n && array_room_for(&ranks->all, ranks->n, n, sizeof *ranks->all) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (region->member_ns[i])
			ranks->all[ranks->n++] = (struct ranks_one){
				.time_ns = region->member_ns[i],
				.rank = record->members[i].rank,
				.pid = record->members[i].pid,
				.died = record->members[i].died,
				.record = place & INT32_MAX,
			};
	return 0;
}

void ranks_done(struct ranks *ranks)
{
	free(ranks->all);
	*ranks = (struct ranks){ .n = 0 };
}

/* --- the spread --- */

/* Of ranks with the same time the first is the last, because slow ones are named from the end. */
static int ranks_compare(const void *a, const void *b)
{
	const struct ranks_one *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->record != y->record)
		return x->record > y->record ? -1 : 1;
	return (x->rank < y->rank) - (x->rank > y->rank);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

static bool stands_out(const uint64_t quartiles[RANKS_QUARTILES], uint64_t at)
{
	const uint64_t lower = quartiles[1], median = quartiles[RANKS_MEDIAN], upper = quartiles[3];

	return (at < lower || at > upper) &&
	       2 * apart(at, at < lower ? lower : upper) > 3 * (upper - lower) &&
	       apart(at, median) >= (median + 19) / 20;
}

static void name(struct ranks_named *named, const struct ranks_one *one)
{
	if (named->n < RANKS_NAMED)
		named->first[named->n] = one;
	named->n++;
}

/* Outliers are at both ends of what is sorted. */
static void ranks_find_named(
	const struct ranks_one sorted[], uint32_t n_all, struct ranks_spread *spread)
{
	const uint64_t median = spread->quartiles[RANKS_MEDIAN];

	while (n_all-- > 0)
		if (sorted[n_all].died)
			name(&spread->dead, &sorted[n_all]);
	for (uint32_t first = 0, end = spread->n; first < end;) {
		const bool is_first = apart(sorted[first].time_ns, median) >
				      apart(sorted[end - 1].time_ns, median);
		const struct ranks_one *farthest = &sorted[is_first ? first++ : --end];

		if (!stands_out(spread->quartiles, farthest->time_ns))
			return;
		name(&spread->outliers, farthest);
	}
}

bool ranks_spread(struct ranks *ranks, struct ranks_spread *ret)
{
	uint32_t n = ranks->n;

	*ret = (struct ranks_spread){ .n = 0 };
	if (!n)
		return false;
	qsort(ranks->all, n, sizeof *ranks->all, ranks_compare);
	while (n && ranks->all[n - 1].time_ns == RECORD_NOT_KNOWN_NS)
		n--;
	ret->n = n;
	for (uint32_t i = 0; n && i < RANKS_QUARTILES; i++)
		ret->quartiles[i] = ranks->all[i ? ((uint64_t)n * i + 3) / 4 - 1 : 0].time_ns;
	ranks_find_named(ranks->all, ranks->n, ret);
	return n;
}

/* --- JSON --- */

static void named_json(struct jsonwriter *json, const char *const keys[2],
	const struct ranks_named *named, const struct record *records)
{
	const uint32_t n = named->n < RANKS_NAMED ? named->n : RANKS_NAMED;

	jsonwriter_array(json, keys[0]);
	for (uint32_t i = 0; i < n; i++) {
		const struct ranks_one *one = named->first[i];
		const int64_t time_ns = (int64_t)one->time_ns; /* negative: it is not known */

		jsonwriter_object(json, NULL);
		jsonwriter_known(json, "rank", one->rank >= 0, one->rank);
		jsonwriter_signed(json, "pid", one->pid);
		jsonwriter_text_or_null(json, "host", records[one->record].host);
		jsonwriter_known(json, "time_ns", time_ns >= 0, time_ns);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
	jsonwriter_number(json, keys[1], named->n - n);
}

void ranks_json(struct jsonwriter *json, struct ranks *ranks, const struct record *records)
{
	static const char *const outliers[] = { "outliers", "more_outliers" };
	static const char *const dead[] = { "dead", "more_dead" };
	struct ranks_spread spread;

	ranks_spread(ranks, &spread);
	if (!ranks->n)
		return;
	jsonwriter_object(json, "rank_time");
	jsonwriter_number(json, "ranks", spread.n);
	jsonwriter_number(json, "not_known", ranks->n - spread.n);
	jsonwriter_array(json, "quartiles_ns");
	for (int i = 0; spread.n && i < RANKS_QUARTILES; i++)
		jsonwriter_number(json, NULL, spread.quartiles[i]);
	jsonwriter_close(json);
	named_json(json, outliers, &spread.outliers, records);
	named_json(json, dead, &spread.dead, records);
	jsonwriter_close(json);
}

void ranks_json_region(
	struct jsonwriter *json, const struct record *record, const struct record_region *region)
{
	_cleanup_(ranks_done) struct ranks ranks = { .n = 0 };
	const bool pretty = json->pretty;

	if (!region->member_ns)
		return;
	jsonwriter_array(json, "member_ns");
	json->pretty = false; /* thousands of numbers in one line */
	for (uint32_t i = 0; i < record->n_members; i++)
		jsonwriter_known(json, NULL, (int64_t)region->member_ns[i] >= 0,
			(int64_t)region->member_ns[i]);
	jsonwriter_close(json);
	json->pretty = pretty;
	if (ranks_add(&ranks, record, region, 0) == 0)
		ranks_json(json, &ranks, record);
}

/* --- tables --- */

void ranks_note(FILE *out, const struct record *record, const struct record_region *region)
{
	_cleanup_(ranks_done) struct ranks ranks = { .n = 0 };
	struct ranks_spread spread;
	const struct ranks_one *one;
	char most[QUANTITY_MAX], median[QUANTITY_MAX];

	if (ranks_add(&ranks, record, region, 0) < 0 || !ranks_spread(&ranks, &spread) ||
		!spread.outliers.n)
		return;
	one = spread.outliers.first[0];
	quantity_time((double)one->time_ns, most);
	quantity_time((double)spread.quartiles[RANKS_MEDIAN], median);
	fprintf(out,
		"outliers: %" PRIu32 ", the farthest %s %" PRId64
		": %s inside, the median of %" PRIu32 " ranks %s; ",
		spread.outliers.n, one->rank < 0 ? "pid" : "rank",
		one->rank < 0 ? one->pid : one->rank, most, spread.n, median);
}
