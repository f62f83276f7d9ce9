/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/join.h"

#include <math.h>

#include "client/report/csv.h"
#include "client/report/derived.h"
#include "client/report/format.h"
#include "client/report/record-time.h"

/* A record, and the number of its run; 0: it is in none. */
struct csv_source {
	const struct record *record;
	uint32_t run;
};

/* The columns at the begin of all lines of a region. */
static void record_csv_begin_line(
	struct csv *csv, const struct record *record, const struct record_region *region)
{
	csv_text(csv, record->host);
	csv_text(csv, record->job);
	csv_text(csv, record->team);
	csv_number(csv, record->run);
	csv_text(csv, region->name);
	csv_number(csv, region->n_ranks);
	csv_number(csv, region->n_passages);
	csv_number(csv, region->n_failed);
	csv_number(csv, region->time_ns);
}

/* The columns at the end of all lines of a region, except the last one. */
static void end_line(struct csv *csv, const struct csv_source *source)
{
	const struct record *record = source->record;

	csv_text(csv, steps_of(record));
	csv_known(csv, record->begun_ns, record->begun_ns);
	csv_known(csv, record->ended_ns, record->ended_ns);
	csv_known(csv, source->run, source->run);
}

static void record_csv_write_value(
	struct csv *csv, const struct record_socket *socket, uint32_t metric, const char *unit)
{
	const struct record_value *value = &socket->values[metric];

	if (value->quality & UNCORE_ABSENT) {
		csv_empty(csv, 2);
	} else {
		csv_number(csv, value->count);
		csv_rounded(csv, ceil(derived_bound(socket, value)));
	}
	csv_text(csv, unit);
	csv_quality(csv, value->quality);
}

static void record_csv_write_share(struct csv *csv, const struct record_value *value)
{
	if (!value->has_share || value->quality & UNCORE_ABSENT) {
		csv_empty(csv, 2);
		return;
	}
	csv_number(csv, value->share);
	csv_number(csv, value->alone);
}

/* The last columns: those that are the same in all lines of a record, and the region's title. */
static void record_csv_write_origin(
	struct csv *csv, const struct record *record, const struct record_region *region)
{
	char time[RECORD_TIME_MAX], digits[FORMAT_GENERATION_MAX];

	record_time(record->begun_ns / 1000000000, time);
	format_generation(record->generation, digits);
	csv_text(csv, time);
	csv_text(csv, record->command);
	csv_text(csv, record->platform);
	csv_text(csv, *record->platform ? digits : "");
	csv_text(csv, region->title ? region->title : "");
	csv_text(csv, record->label);
}

static void record_csv_write_metric(struct csv *csv, const struct csv_source *source,
	const struct record_region *region, const struct record_socket *socket, uint32_t metric)
{
	const struct record *record = source->record;
	const struct record_value *value = &socket->values[metric];

	record_csv_begin_line(csv, record, region);
	csv_number(csv, socket->socket);
	csv_number(csv, socket->window_ns);
	csv_text(csv, record->metrics[metric]);
	record_csv_write_value(csv, socket, metric, record->units[metric]);
	csv_known(csv, socket->package >= 0, socket->package);
	end_line(csv, source);
	csv_absent(csv, value->quality, value->why);
	record_csv_write_share(csv, value);
	record_csv_write_origin(csv, record, region);
	csv_end(csv);
}

static void write_work(struct csv *csv, const struct csv_source *source,
	const struct record_region *region, const struct record_work *work)
{
	record_csv_begin_line(csv, source->record, region);
	csv_empty(csv, 2);
	csv_text(csv, "work");
	csv_real(csv, work->amount);
	csv_empty(csv, 1);
	csv_text(csv, work->unit);
	csv_empty(csv, 2);
	end_line(csv, source);
	csv_empty(csv, 3);
	record_csv_write_origin(csv, source->record, region);
	csv_end(csv);
}

static void record_csv_write_region(
	struct csv *csv, const struct csv_source *source, const struct record_region *region)
{
	for (uint32_t i = 0; i < region->n_sockets; i++)
		for (uint32_t m = 0; m < source->record->n_metrics; m++)
			record_csv_write_metric(csv, source, region, &region->sockets[i], m);
	for (size_t i = 0; i < RECORD_UNITS_MAX && *region->work[i].unit; i++)
		write_work(csv, source, region, &region->work[i]);
}

void record_csv_titles(FILE *out)
{
	fputs("host,job,team,run,region,ranks,passages,failed,time_ns,socket,window_ns,metric,"
	      "value,"
	      "error,unit,quality,package,step,begun_ns,ended_ns,sum,absent,share,alone,"
	      "time,command,platform,generation,title,label\n",
		out);
}

void record_csv_lines(FILE *out, const struct record *record, uint32_t run)
{
	const struct csv_source source = { record, run };
	struct csv csv = { out, false };

	for (uint32_t i = 0; i < record->n_regions; i++)
		record_csv_write_region(&csv, &source, &record->regions[i]);
}

void record_csv(FILE *out, const struct join *join)
{
	for (uint32_t i = 0; i < join->n_records; i++) {
		const uint32_t run = join->runs.of[i];

		if (!join->records[i].beside)
			record_csv_lines(out, &join->records[i], run == RUNS_APART ? 0 : run + 1);
	}
}
