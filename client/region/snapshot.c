/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/region/cell.h"
#include "client/region/killed.h"
#include "client/region/overlap.h"
#include "client/region/stretch.h"
#include "common/clock.h"
#include "common/macro.h"

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

/* --- members --- */

static int fill_members(const struct table *table, struct record *record)
{
	const unsigned n = table_count_slots(table);

	record->members = calloc(n ? n : 1, sizeof *record->members);
	if (!record->members)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		const struct table_slot *slot = &table->slots[i];
		struct record_member *member = &record->members[record->n_members];

		if (table_phase(table, i) == TABLE_FREE)
			continue;
		member->rank = LOAD(slot->rank);
		member->pid = LOAD(slot->pid);
		member->died = table_phase(table, i) == TABLE_DIED;
		TABLE_READ_TEXT(member->cpus, slot->cpus);
		record->n_members++;
	}
	return 0;
}

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
	}
}

/* --- regions --- */

static void add_cell(struct record_region *region, const struct table_cell *cell, bool died)
{
	const uint64_t n_begun = cell->n_ended + cell->inside + cell->n_abandoned;

	region->n_passages += cell->n_ended;
	region->n_failed += cell->n_failed;
	region->time_ns += cell->time_ns;
	region->n_ranks += n_begun > 0;
	if (died)
		region->n_died += cell->inside;
	else
		region->n_open += cell->inside;
	region->n_open += cell->n_abandoned;
	for (unsigned i = 0; i < TABLE_UNITS; i++)
		region->work[i].amount += cell->work[i];
}

static void add_cells(const struct table *table, unsigned index, struct record_region *region)
{
	const unsigned n = table_count_slots(table);

	region->n_died = LOAD(table->regions[index].n_died);
	for (unsigned i = 0; i < n; i++) {
		const enum table_phase phase = table_phase(table, i);
		struct table_cell cell = { .lock = 0 };

		if (phase == TABLE_FREE)
			continue;
		cell_copy(&cell, &table->cells[i][index]);
		add_cell(region, &cell, phase == TABLE_DIED);
	}
}

/* Measured stretches stand for those that were not measured. */
static double scale_of(const struct table_record *sums)
{
	return sums->n_measured ? (double)sums->n_stretches / (double)sums->n_measured : 1;
}

/* The standard error of a sum over n of N stretches, scaled by N / n. */
static double sampling_error(const struct table_record *sums, uint64_t count, double squares)
{
	const double n = (double)sums->n_measured, all = (double)sums->n_stretches;
	const double sum = (double)count;

	if (n >= all)
		return 0;
	if (n < 2)
		return NAN;
	return all / n * sqrt(n * fmax(squares - sum * sum / n, 0) / (n - 1) * (1 - n / all));
}

static uint64_t scaled(uint64_t number, double scale)
{
	const double product = (double)number * scale + 0.5;

	if (scale <= 1)
		return number;
	return product < 0x1p64 ? (uint64_t)product : UINT64_MAX;
}

static int fill_value(const struct table *table, const struct table_record *sums, uint32_t socket,
	uint32_t metric, struct record_value *value)
{
	const struct table_count *sum = &sums->sockets[socket].sums[metric];
	char why[UNCORE_TEXT_MAX];

	value->count = scaled(sum->count, scale_of(sums));
	value->quality = sum->quality;
	value->sampling = sampling_error(sums, sum->count, sums->sockets[socket].squares[metric]);
	if (!(sum->quality & UNCORE_ABSENT))
		return 0;
	value->sampling = 0;
	table_read_text(why, table->header.whys[metric], sizeof why);
	value->why = strdup(*why ? why : "uncored did not say why");
	return value->why ? 0 : -ENOMEM;
}

static int64_t package_of(const struct table_header *header, uint32_t socket)
{
	if (socket >= LOAD(header->n_packages) || socket >= PAGE_SOCKETS_MAX)
		return -1;
	return LOAD(header->packages[socket]);
}

static int fill_socket(const struct table *table, const struct record *record,
	const struct table_record *sums, uint32_t i, struct record_socket *socket)
{
	const uint64_t quantum = LOAD(table->header.quantum);
	const struct table_socket *from = &sums->sockets[i];
	const double scale = scale_of(sums);
	int r = 0;

	socket->socket = i;
	socket->package = package_of(&table->header, i);
	socket->window_ns = scaled(from->window_ns, scale);
	socket->skew_ns = scaled(from->skew_ns, scale);
	socket->quantum_bytes = quantum > 1 ? scaled(quantum * from->n_readings, scale) : 0;
	for (uint32_t m = 0; m < record->n_metrics && r == 0; m++)
		r = fill_value(table, sums, i, m, &socket->values[m]);
	return r;
}

static bool has_readings(const struct table_record *sums)
{
	for (uint32_t i = 0; i < sums->n_sockets; i++)
		if (sums->sockets[i].n_readings)
			return true;
	return false;
}

/* Sums without any reading are not figures. */
static int fill_sums(const struct table *table, const struct record *record,
	const struct table_record *sums, struct record_region *region)
{
	const uint32_t wanted = table_sockets(table);
	int r = 0;

	region->lost_ns = sums->lost_ns;
	region->n_stretches = sums->n_stretches;
	region->n_measured = sums->n_measured;
	if (!has_readings(sums))
		return 0;
	region->sockets = calloc(sums->n_sockets, sizeof *region->sockets);
	if (!region->sockets)
		return -ENOMEM;
	for (uint32_t i = 0; i < sums->n_sockets && r == 0; i++) {
		const uint64_t shared_ns = scaled(sums->sockets[i].shared_ns, scale_of(sums));

		if (!(wanted >> i & 1))
			continue;
		if (shared_ns > region->shared_ns)
			region->shared_ns = shared_ns;
		r = fill_socket(table, record, sums, i, &region->sockets[region->n_sockets++]);
	}
	return r;
}

static int fill_region(const struct table *table, unsigned index, struct record *record,
	struct table_record *scratch)
{
	struct record_region *region = &record->regions[index];

	TABLE_READ_TEXT(region->name, table->regions[index].name);
	for (unsigned i = 0; i < TABLE_UNITS; i++)
		TABLE_READ_TEXT(region->work[i].unit, table->regions[index].units[i]);
	add_cells(table, index, region);
	if (!stretch_copy_record(table, index, scratch))
		return 0;
	return fill_sums(table, record, scratch, region);
}

static int fill_regions(const struct table *table, struct record *record)
{
	const unsigned n = table_count_regions(table);
	_cleanup_free_ struct table_record *scratch = calloc(1, sizeof *scratch);
	int r = 0;

	record->regions = calloc(n ? n : 1, sizeof *record->regions);
	if (!record->regions || !scratch)
		return -ENOMEM;
	for (unsigned i = 0; i < n && r == 0; i++) {
		record->n_regions++;
		r = fill_region(table, i, record, scratch);
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

	TABLE_READ_TEXT(record->team, header->name);
	TABLE_READ_TEXT(record->host, header->host);
	TABLE_READ_TEXT(record->job, header->job);
	TABLE_READ_TEXT(record->command, header->command);
	TABLE_READ_TEXT(record->failure, header->failure);
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

int snapshot(const struct table *table, struct record *ret)
{
	int r = fill_members(table, ret);

	if (r < 0)
		return r;
	fill_machine(&table->header, ret);
	fill_team(&table->header, ret);
	fill_cost(table, &ret->cost);
	killed_warn(table, ret);
	warn_of_sockets(table, ret);
	r = fill_regions(table, ret);
	return r < 0 ? r : overlap_estimate(table, ret);
}
