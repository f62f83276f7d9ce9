/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client/report/derived.h"
#include "client/report/quantity.h"
#include "common/text.h"

enum { SPLIT_MAX = 4 }; /* shares in a cell */

static void write_none(char ret_text[COLUMN_CELL_MAX])
{
	strcpy(ret_text, "-");
}

static bool needs_quotes(const char *name)
{
	return !*name || strpbrk(name, " \"\\,;:");
}

void cells_name(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	const char *name = region->name;
	const char *quote = needs_quotes(name) ? "\"" : "";

	(void)record;
	(void)column;
	snprintf(ret_text, COLUMN_CELL_MAX, "%s%s%s", quote, name, quote);
	text_make_plain(ret_text);
}

void cells_passages(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	(void)record;
	(void)column;
	snprintf(ret_text, COLUMN_CELL_MAX, "%" PRIu64, region->n_passages);
}

static void write_time(double time_ns, char ret_text[COLUMN_CELL_MAX])
{
	char time[QUANTITY_MAX];

	quantity_time(time_ns, time);
	strcpy(ret_text, time);
}

void cells_each(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	(void)record;
	(void)column;
	if (region->n_passages)
		write_time((double)region->time_ns / (double)region->n_passages, ret_text);
	else
		write_none(ret_text);
}

void cells_window(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	(void)record;
	(void)column;
	if (region->n_sockets)
		write_time((double)derived_window_ns(region), ret_text);
	else
		write_none(ret_text);
}

/* "4.10 KB", or a count of something else than bytes. */
static void write_count(const char *unit, double count, char ret_text[QUANTITY_MAX])
{
	if (strcmp(unit, "bytes") == 0)
		quantity_bytes(count, ret_text);
	else if (strcmp(unit, "ns") == 0)
		quantity_time(count, ret_text);
	else
		quantity_plain(count, ret_text);
}

void cells_metric(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	struct derived total = derived_total(region, column->metric);
	struct derived rate = derived_rate(region, column->metric);
	const char *unit = record->units[column->metric];
	char count[QUANTITY_MAX], speed[QUANTITY_MAX];

	if (!region->n_sockets) {
		write_none(ret_text);
		return;
	}
	if (!derived_is_known(&total)) {
		strcpy(ret_text, "absent");
		return;
	}
	write_count(unit, total.value, count);
	if (column->is_short || strcmp(unit, "bytes") != 0 || !derived_is_known(&rate)) {
		strcpy(ret_text, count);
		return;
	}
	quantity_rate(rate.value, speed);
	snprintf(ret_text, COLUMN_CELL_MAX, "%s %9s", count, speed);
}

/* The rate of all memory. A socket without a window has none. */
void cells_rate(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	struct derived volume = derived_volume(record, region);
	uint64_t window_ns = derived_window_ns(region);
	char speed[QUANTITY_MAX];

	(void)column;
	if (!derived_is_known(&volume) || !window_ns) {
		write_none(ret_text);
		return;
	}
	quantity_rate(volume.value / (double)window_ns, speed);
	strcpy(ret_text, speed);
}

void cells_per_work(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	const char *unit = column->title + strlen("per ");
	char each[QUANTITY_MAX];

	write_none(ret_text);
	for (size_t i = 0; i < RECORD_UNITS_MAX && *region->work[i].unit; i++) {
		struct derived per =
			derived_per_work(&region->work[i], derived_volume(record, region));

		if (strcmp(region->work[i].unit, unit) != 0 || !derived_is_known(&per))
			continue;
		quantity_bytes(per.value, each);
		strcpy(ret_text, each);
	}
}

void cells_store_ratio(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	struct derived ratio = derived_store_ratio(record, region);

	(void)column;
	if (derived_is_known(&ratio))
		snprintf(ret_text, COLUMN_CELL_MAX, "%.3g", ratio.value);
	else
		write_none(ret_text);
}

static void write_share(double share, char ret_text[COLUMN_CELL_MAX])
{
	char text[QUANTITY_MAX];

	if (isnan(share)) {
		write_none(ret_text);
		return;
	}
	quantity_share(share, text);
	strcpy(ret_text, text);
}

/* The sockets' windows differ a little, so the share could pass 1. */
void cells_shared(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	uint64_t window_ns = derived_window_ns(region);

	(void)record;
	(void)column;
	if (window_ns)
		write_share(fmin(1, (double)region->shared_ns / (double)window_ns), ret_text);
	else
		write_none(ret_text);
}

void cells_others(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	(void)record;
	(void)column;
	if (region->n_others < 0)
		strcpy(ret_text, "?");
	else
		snprintf(ret_text, COLUMN_CELL_MAX, "%" PRId64, region->n_others);
}

/* The sum over the sockets; its error is the root of the sum of squares. */
void cells_estimate(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	double count = 0, squares = 0;
	char bytes[QUANTITY_MAX], share[QUANTITY_MAX];
	bool bound = true;

	write_none(ret_text);
	if (!region->estimates || !region->n_sockets)
		return;
	for (uint32_t i = 0; i < region->n_sockets; i++) {
		const struct record_estimate *estimate =
			&region->estimates[(size_t)i * record->n_metrics + column->metric];

		if (!estimate->is_known)
			return;
		count += estimate->count;
		squares += estimate->error * estimate->error;
		bound &= estimate->is_bound;
	}
	quantity_bytes(count, bytes);
	quantity_share(count > 0 ? sqrt(squares) / count : NAN, share);
	if (bound)
		snprintf(ret_text, COLUMN_CELL_MAX, "< %s", bytes);
	else
		snprintf(ret_text, COLUMN_CELL_MAX, "%s %6s", bytes, share);
}

/* The memory traffic of one socket; absent metrics add nothing. */
static double volume_of(const struct record *record, const struct record_socket *socket)
{
	double sum = 0;

	for (uint32_t i = 0; i < record->n_metrics; i++)
		if (derived_is_memory(record->metrics[i]) &&
			!(socket->values[i].quality & UNCORE_ABSENT))
			sum += (double)socket->values[i].count;
	return sum;
}

/* "62/38 %"; with many sockets, the one with the largest share: "socket 3: 62 %". */
void cells_split(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	double sum = 0, most = 0;
	uint32_t most_at = 0;
	size_t n = 0;

	(void)column;
	write_none(ret_text);
	for (uint32_t i = 0; i < region->n_sockets; i++) {
		double volume = volume_of(record, &region->sockets[i]);

		sum += volume;
		if (volume > most) {
			most = volume;
			most_at = region->sockets[i].socket;
		}
	}
	if (!(sum > 0))
		return;
	if (region->n_sockets > SPLIT_MAX) {
		snprintf(ret_text, COLUMN_CELL_MAX, "s%" PRIu32 " %.0f %%", most_at,
			100 * most / sum);
		return;
	}
	for (uint32_t i = 0; i < region->n_sockets; i++)
		n += (size_t)snprintf(ret_text + n, COLUMN_CELL_MAX - n, "%s%.0f", i ? "/" : "",
			100 * volume_of(record, &region->sockets[i]) / sum);
	snprintf(ret_text + n, COLUMN_CELL_MAX - n, " %%");
}

void cells_bound(const struct record *record, const struct record_region *region,
	const struct column *column, char ret_text[COLUMN_CELL_MAX])
{
	(void)column;
	write_share(derived_worst_error(record, region), ret_text);
}
