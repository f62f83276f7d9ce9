/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/collect/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/region/activity.h"
#include "client/region/pace.h"
#include "client/region/state.h"
#include "client/region/sums.h"
#include "client/report/derived.h"
#include "common/clock.h"
#include "common/macro.h"

/* --- the cost --- */

static void add_cost(const struct table_cost *cost, uint64_t *n_calls, uint64_t *time_ns)
{
	*n_calls += LOAD(cost->n_calls);
	*time_ns += LOAD(cost->time_ns);
}

static void fill_cost(const struct table *table, struct record_cost *ret)
{
	const unsigned n = table_count_slots(table);

	for (unsigned i = 0; i < n; i++) {
		add_cost(&table->slots[i].reading, &ret->n_reading, &ret->reading_ns);
		add_cost(&table->slots[i].other, &ret->n_timed, &ret->timed_ns);
		add_cost(&table->slots[i].misses, &ret->n_misses, &ret->misses_ns);
	}
}

/* --- regions --- */

static int fill_value(const struct table *table, uint32_t metric, const struct table_sum *sum,
	struct record_value *value)
{
	char why[UNCORE_TEXT_MAX];

	value->count = sum->all;
	value->share = sum->share;
	value->alone = sum->alone;
	value->has_share = true;
	value->quality |= sum->quality;
	if (!(value->quality & UNCORE_ABSENT))
		return 0;
	table_read_text(why, table->header.whys[metric], sizeof why);
	value->why = strdup(*why ? why : "uncored did not say why");
	return value->why ? 0 : -ENOMEM;
}

static int64_t snapshot_package_of(const struct table_header *header, uint32_t socket)
{
	if (socket >= LOAD(header->n_packages) || socket >= PAGE_SOCKETS_MAX)
		return -1;
	return LOAD(header->packages[socket]);
}

/* Every interval is part of outside. */
static uint32_t absent_of(const struct record *record, uint32_t socket, uint32_t metric)
{
	const struct record_region *outside = record->outside;

	for (uint32_t i = 0; i < outside->n_sockets; i++)
		if (outside->sockets[i].socket == socket)
			return outside->sockets[i].values[metric].quality & UNCORE_ABSENT;
	return 0;
}

static int snapshot_fill_socket(const struct table *table, const struct record *record,
	const struct table_socket *from, struct record_socket *socket)
{
	const uint64_t quantum = LOAD(table->header.quantum);
	int r = 0;

	socket->package = snapshot_package_of(&table->header, socket->socket);
	socket->window_ns = from->open_ns;
	socket->skew_ns = from->skew_ns;
	socket->quantum_bytes = quantum > 1 ? quantum * from->n_readings : 0;
	for (uint32_t m = 0; m < record->n_metrics && r == 0; m++) {
		if (!from->n_readings) /* a row that was never open: what nobody counts, moved not
					*/
			socket->values[m].quality = absent_of(record, socket->socket, m);
		r = fill_value(table, m, &from->metrics[m], &socket->values[m]);
	}
	return r;
}

/* Sums without any reading are not figures; but a row of a state that was never open moved nothing.
 */
static bool has_readings(const struct table *table, const struct sums *sums, bool is_row)
{
	if (is_row && !sums->lost_ns && LOAD(table->header.added))
		return true;
	for (uint32_t i = 0; i < sums->n_sockets; i++)
		if (sums->sockets[i].n_readings)
			return true;
	return false;
}

static int fill_sums(const struct table *table, unsigned place, const struct record *record,
	struct record_region *region)
{
	const uint32_t wanted = table_sockets(table), n = LOAD(table->header.n_sockets);
	_cleanup_free_ struct sums *sums = calloc(1, sizeof *sums);
	int r = 0;

	if (!sums)
		return -ENOMEM;
	if (place == TABLE_OUTSIDE || LOAD(table->regions[place].has_sums))
		sums_read(sums, &table->sums[place]);
	region->lost_ns = sums->lost_ns +
			  (region->is_row ? 0 : activity_unread_ns(table, place, clock_now_ns()));
	if (!has_readings(table, sums, region->is_row))
		return 0;
	region->sockets = calloc(PAGE_SOCKETS_MAX, sizeof *region->sockets);
	if (!region->sockets)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && i < PAGE_SOCKETS_MAX && r == 0; i++) {
		const struct table_socket *from = &sums->sockets[i];
		struct record_socket *socket = &region->sockets[region->n_sockets];

		if (!(wanted >> i & 1))
			continue;
		region->n_sockets++;
		socket->socket = i;
		if (!region->is_row && from->open_ns - from->alone_ns > region->shared_ns)
			region->shared_ns = from->open_ns - from->alone_ns;
		r = snapshot_fill_socket(table, record, from, socket);
	}
	return r;
}

/* What a row of a state is. */
static void say_row(const char *name, int row, char ret[TABLE_TITLE_BYTES])
{
	const size_t end = strlen(state_rows[row].end), n = strlen(name);

	snprintf(ret, TABLE_TITLE_BYTES, "while %s of the node had the state %.*s",
		state_rows[row].ranks, (int)(n > end ? n - end : n), name);
}

/* A row of a state says what it is, unless the program gave it a title. */
static int fill_title(
	const struct table *table, unsigned index, int row, struct record_region *region)
{
	char title[TABLE_TITLE_BYTES];

	table_read_title(table, index, title);
	if (!*title && row >= 0)
		say_row(region->name, row, title);
	if (*title && !(region->title = strdup(title)))
		return -ENOMEM;
	return 0;
}

static int fill_region(const struct table *table, unsigned index, struct record *record)
{
	struct record_region *region = &record->regions[index];
	unsigned number;
	const int row = state_find_row(table, index, &number);
	int r;

	TABLE_READ_TEXT(region->name, table->regions[index].name);
	for (unsigned i = 0; i < TABLE_UNITS; i++)
		TABLE_READ_TEXT(region->work[i].unit, table->regions[index].units[i]);
	region->is_row = row >= 0;
	r = fill_title(table, index, row, region);
	if (r < 0)
		return r;
	if (row > 0)
		region->n_ranks = record->n_members;
	else
		r = snapshot_cells(table, index, record, region);
	if (r == 0 && !region->is_row)
		r = snapshot_misses(table, index, region);
	return r < 0 ? r : fill_sums(table, index, record, region);
}

static int fill_regions(const struct table *table, struct record *record)
{
	const unsigned n = table_count_regions(table);
	int r;

	record->outside = calloc(1, sizeof *record->outside);
	record->regions = calloc(n ? n : 1, sizeof *record->regions);
	if (!record->regions || !record->outside)
		return -ENOMEM;
	r = fill_sums(table, TABLE_OUTSIDE, record, record->outside);
	for (unsigned i = 0; i < n && r == 0; i++) {
		record->n_regions++;
		r = fill_region(table, i, record);
	}
	return r;
}

/* --- all --- */

static void fill_machine(const struct table_header *header, struct record *record)
{
	uint32_t n = LOAD(header->n_metrics);

	if (!__atomic_load_n(&header->is_described, __ATOMIC_ACQUIRE))
		return;
	TABLE_READ_TEXT(record->platform, header->platform);
	table_copy(record->generation, header->generation, sizeof record->generation);
	record->n_metrics = n < UNCORE_METRICS_MAX ? n : UNCORE_METRICS_MAX;
	for (uint32_t i = 0; i < record->n_metrics; i++) {
		TABLE_READ_TEXT(record->metrics[i], header->names[i]);
		TABLE_READ_TEXT(record->units[i], header->units[i]);
	}
}

static void fill_team(const struct table_header *header, struct record *record)
{
	const uint64_t ended_ns = LOAD(header->ended_ns);
	char failure[TABLE_FAILURE_BYTES];

	TABLE_READ_TEXT(record->team, header->name);
	TABLE_READ_TEXT(record->host, header->host);
	TABLE_READ_TEXT(record->job, header->job);
	TABLE_READ_TEXT(record->label, header->label);
	TABLE_READ_TEXT(record->command, header->command);
	TABLE_READ_TEXT(failure, header->failure);
	record->failure = *failure ? strdup(failure) : NULL;
	strcpy(record->version, UNCORE_VERSION);
	record->run = LOAD(header->run);
	record->n_expected = LOAD(header->n_expected);
	record->begun_ns = (int64_t)LOAD(header->begun_ns);
	record->ended_ns = (int64_t)(ended_ns ? ended_ns : clock_wall_ns());
}

static void warn_of_sockets(const struct table *table, struct record *record)
{
	const uint32_t n = LOAD(table->header.n_sockets), wanted = table_sockets(table);
	bool follows = false;

	for (uint32_t i = 0; i < n && i < PAGE_SOCKETS_MAX; i++)
		if (!(wanted >> i & 1)) {
			record_warn(record,
				follows ? "and %" PRIu32 : "Not measured: socket %" PRIu32, i);
			follows = true;
		}
	if (follows)
		record_warn(record,
			"(UNCORE_SOCKETS=own). What the ranks moved in memory there is missing.");
}

static void warn_of_names(const struct table *table, struct record *record)
{
	char name[TABLE_NAME_BYTES];

	if (!LOAD(table->regions[TABLE_OTHERS].hash))
		return;
	record_warn(record,
		"A team has at most %d regions. Counted together as (other names):", TABLE_OTHERS);
	for (unsigned i = 0; i < TABLE_OTHERS_LISTED; i++) {
		TABLE_READ_TEXT(name, table->others[i].name);
		if (*name)
			record_warn(record, "%s,", name);
	}
	record_warn(record, "and perhaps more.");
}

static void warn_of_wishes(const struct table *table, struct record *record)
{
	const uint32_t first = LOAD(table->header.overhead),
		       other = LOAD(table->header.other_overhead);

	if (other)
		record_warn(record,
			"A rank wished UNCORE_OVERHEAD=%g, but the first rank decides: %g.",
			pace_overhead(other) / 100., pace_overhead(first) / 100.);
}

int snapshot(const struct table *table, struct record *ret)
{
	int r = snapshot_members(table, ret);

	if (r < 0)
		return r;
	fill_machine(&table->header, ret);
	fill_team(&table->header, ret);
	fill_cost(table, &ret->cost);
	killed_warn(table, ret);
	warn_of_sockets(table, ret);
	warn_of_wishes(table, ret);
	warn_of_names(table, ret);
	return fill_regions(table, ret);
}

void snapshot_warn_of_others(const struct team_table *kept, struct record *record)
{
	if (kept->n_others == 1)
		record_warn(record, "Another team of this user, %s, counted the same bytes.",
			kept->other);
	else if (kept->n_others)
		record_warn(record,
			"%" PRIu32 " other teams of this user, the first of them %s, counted the "
			"same bytes.",
			kept->n_others, kept->other);
}
