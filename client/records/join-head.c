/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/join.h"

#include <string.h>

#include "client/records/join-sockets.h"
#include "client/report/derived.h"
#include "client/report/format.h"

static void join_metrics(const struct record *record, struct join *join)
{
	struct record *total = &join->total;

	for (uint32_t i = 0; i < record->n_metrics; i++) {
		uint32_t n = total->n_metrics;

		if (derived_find(total, record->metrics[i]) != UINT32_MAX)
			continue;
		join->lacks_metric |= n == UNCORE_METRICS_MAX;
		if (n == UNCORE_METRICS_MAX)
			continue;
		strcpy(total->metrics[n], record->metrics[i]);
		strcpy(total->units[n], record->units[i]);
		total->n_metrics++;
	}
}

/* Keeps @text if all nodes have the same text, and else sets @several. */
static void join_text(bool first, char *text, const char *other, const char *several)
{
	if (first || strcmp(text, other) != 0)
		strcpy(text, first ? other : several);
}

/* If one node is a stand-in, the sum is one, because its warning must be read. */
static void join_platform(const struct record *record, struct record *total)
{
	if (!*record->platform || format_warning(total->platform))
		return;
	if (!*total->platform || format_warning(record->platform))
		strcpy(total->platform, record->platform);
	else
		join_text(false, total->platform, record->platform, "several");
}

static void join_cost(const struct record_cost *cost, struct record_cost *total)
{
	total->n_reading = join_add(total->n_reading, cost->n_reading);
	total->reading_ns = join_add(total->reading_ns, cost->reading_ns);
	total->n_timed = join_add(total->n_timed, cost->n_timed);
	total->timed_ns = join_add(total->timed_ns, cost->timed_ns);
	total->n_misses = join_add(total->n_misses, cost->n_misses);
	total->misses_ns = join_add(total->misses_ns, cost->misses_ns);
}

void join_head(const struct record *record, bool first, struct join *join)
{
	struct record *total = &join->total;

	join_text(first, total->team, record->team, "");
	join_text(first, total->step, record->step, "");
	join_text(first, total->job, record->job, "");
	join_text(first, total->label, record->label, "");
	join_text(first, total->command, record->command, "several commands");
	join_text(first, total->version, record->version, "");
	if (first) {
		total->rows = record->rows;
		total->batch = record->batch;
		total->run = record->run;
		total->begun_ns = record->begun_ns;
		total->ended_ns = record->ended_ns;
		total->n_expected = record->n_expected;
	} else {
		if (!total->begun_ns || (record->begun_ns && record->begun_ns < total->begun_ns))
			total->begun_ns = record->begun_ns;
		if (record->ended_ns > total->ended_ns)
			total->ended_ns = record->ended_ns;
		if (!record->rows)
			total->rows = NULL;
		total->n_expected = total->n_expected && record->n_expected
					    ? total->n_expected + record->n_expected
					    : 0;
	}
	join_metrics(record, join);
	join_platform(record, total);
	join_cost(&record->cost, &total->cost);
	total->n_members += record->n_members;
	total->n_died += record_count_died(record);
}
