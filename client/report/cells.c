/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/report/columns.h"
#include "client/report/derived.h"
#include "client/report/quantity.h"
#include "common/text.h"
#include "common/unit.h"

enum { SPLIT_MAX = 4 }; /* shares in a cell */

static bool needs_quotes(const char *name)
{
	return !*name || strpbrk(name, " \"\\,;:");
}

void columns_name(const char *name, char ret_text[COLUMN_CELL_MAX])
{
	const char *quote = needs_quotes(name) ? "\"" : "";

	snprintf(ret_text, COLUMN_CELL_MAX, "%s%s%s", quote, name, quote);
	text_make_plain(ret_text);
}

void cells_name(const struct cell *cell)
{
	columns_name(cell->region->name, cell->text);
}

void cells_passages(const struct cell *cell)
{
	snprintf(cell->text, COLUMN_CELL_MAX, "%" PRIu64, cell->region->n_passages);
}

void cells_each(const struct cell *cell)
{
	const struct record_region *region = cell->region;

	if (region->n_passages)
		quantity_time((double)region->time_ns / (double)region->n_passages, cell->text);
}

void cells_window(const struct cell *cell)
{
	if (cell->region->n_sockets)
		quantity_time((double)derived_window_ns(cell->region), cell->text);
}

void cells_metric(const struct cell *cell)
{
	const struct record_region *region = cell->region;
	const uint32_t metric = cell->column->metric;
	struct derived total = derived_total(region, metric), rate = derived_rate(region, metric);
	const char *unit = cell->record->units[metric];
	char count[QUANTITY_MAX], speed[QUANTITY_MAX];

	if (!region->n_sockets)
		return;
	if (!derived_is_known(&total)) {
		strcpy(cell->text, "absent");
		return;
	}
	quantity_of(unit, total.value, count);
	if (cell->column->is_short || !unit_is_bytes(unit) || !derived_is_known(&rate)) {
		strcpy(cell->text, count);
		return;
	}
	quantity_rate(rate.value, speed);
	snprintf(cell->text, COLUMN_CELL_MAX, "%s %9s", count, speed);
}

/* The rate of all memory. A socket without a window has none. */
void cells_rate(const struct cell *cell)
{
	struct derived volume = derived_volume(cell->record, cell->region);
	uint64_t window_ns = derived_window_ns(cell->region);

	if (derived_is_known(&volume) && window_ns)
		quantity_rate(volume.value / (double)window_ns, cell->text);
}

void cells_per_work(const struct cell *cell)
{
	const char *unit = cell->column->title + strlen("per ");
	const struct record_work *work = cell->region->work;

	for (size_t i = 0; i < RECORD_UNITS_MAX && *work[i].unit; i++) {
		struct derived per =
			derived_per_work(&work[i], derived_volume(cell->record, cell->region));

		if (strcmp(work[i].unit, unit) == 0 && derived_is_known(&per))
			quantity_bytes(per.value, cell->text);
	}
}

void cells_store_ratio(const struct cell *cell)
{
	struct derived ratio = derived_store_ratio(cell->record, cell->region);

	if (derived_is_known(&ratio))
		snprintf(cell->text, COLUMN_CELL_MAX, "%.3g", ratio.value);
}

/* The sockets' windows differ a little, so the share could pass 1. */
void cells_shared(const struct cell *cell)
{
	uint64_t window_ns = derived_window_ns(cell->region);

	if (window_ns)
		quantity_share(
			fmin(1, (double)cell->region->shared_ns / (double)window_ns), cell->text);
}

void cells_others(const struct cell *cell)
{
	if (cell->region->n_others < 0)
		strcpy(cell->text, "?");
	else
		snprintf(cell->text, COLUMN_CELL_MAX, "%" PRId64, cell->region->n_others);
}

/* "1.2..3.4 MB" would need one unit for both. */
void cells_bracket(const struct cell *cell)
{
	const struct derived_bracket bracket = derived_bracket(cell->region, cell->column->metric);
	char alone[QUANTITY_MAX], all[QUANTITY_MAX];

	if (!bracket.is_known || !(bracket.has_hole || derived_is_wide(&bracket)))
		return;
	quantity_bytes(bracket.alone, alone);
	if (bracket.has_hole) {
		snprintf(cell->text, COLUMN_CELL_MAX, "%s or more", alone);
		return;
	}
	quantity_bytes(bracket.all, all);
	snprintf(cell->text, COLUMN_CELL_MAX, "%s to %s", alone, all);
}

/* The memory traffic of one socket; absent metrics add nothing. */
static double volume_of(const struct record *record, const struct record_socket *socket)
{
	double sum = 0;

	for (uint32_t i = 0; i < record->n_metrics; i++)
		if (derived_is_memory(record, i) && !(socket->values[i].quality & UNCORE_ABSENT))
			sum += (double)socket->values[i].count;
	return sum;
}

/* "62/38 %"; with many sockets, the one with the largest share: "s3 62 %". */
void cells_split(const struct cell *cell)
{
	const struct record_region *region = cell->region;
	double sum = 0, most = 0;
	uint32_t most_at = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < region->n_sockets; i++) {
		double volume = volume_of(cell->record, &region->sockets[i]);

		sum += volume;
		if (volume > most) {
			most = volume;
			most_at = region->sockets[i].socket;
		}
	}
	if (!(sum > 0))
		return;
	if (region->n_sockets > SPLIT_MAX) {
		snprintf(cell->text, COLUMN_CELL_MAX, "s%" PRIu32 " %.0f %%", most_at,
			100 * most / sum);
		return;
	}
	for (uint32_t i = 0; i < region->n_sockets; i++)
		n += (size_t)snprintf(cell->text + n, COLUMN_CELL_MAX - n, "%s%.0f", i ? "/" : "",
			100 * volume_of(cell->record, &region->sockets[i]) / sum);
	snprintf(cell->text + n, COLUMN_CELL_MAX - n, " %%");
}

void cells_bound(const struct cell *cell)
{
	const double share = derived_worst_error(cell->record, cell->region);

	if (!isnan(share))
		quantity_share(share, cell->text);
}
