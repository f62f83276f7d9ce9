/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/report/derived.h"
#include "client/report/format.h"

static void write_text(FILE *out, const char *text)
{
	bool quoted = *text && strpbrk(text, ",\"\r\n ");

	if (quoted)
		fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quoted)
		fputc('"', out);
}

/* The columns that all lines of a region begin with. */
static void begin_line(FILE *out, const struct record *record, const struct record_region *region)
{
	write_text(out, record->host);
	fputc(',', out);
	write_text(out, record->job);
	fputc(',', out);
	write_text(out, record->team);
	fprintf(out, ",%" PRIu32 ",", record->run);
	write_text(out, region->name);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", region->n_ranks,
		region->n_passages, region->n_failed, region->time_ns);
}

/* A record, and the number of its run; 0: it is in none. */
struct csv_source {
	const struct record *record;
	uint32_t run;
};

static void write_time(FILE *out, int64_t time_ns)
{
	fputc(',', out);
	if (time_ns)
		fprintf(out, "%" PRId64, time_ns);
}

/* The columns that all lines of a region end with. */
static void end_line(FILE *out, const struct csv_source *source)
{
	fputc(',', out);
	write_text(out, runs_step(source->record));
	write_time(out, source->record->begun_ns);
	write_time(out, source->record->ended_ns);
	fputc(',', out);
	if (source->run)
		fprintf(out, "%" PRIu32, source->run);
	fputc('\n', out);
}

/* Empty where there is no value. */
static void write_value(
	FILE *out, const struct record *record, const struct record_socket *socket, uint32_t metric)
{
	const struct record_value *value = &socket->values[metric];
	char words[FORMAT_QUALITY_MAX];
	const double error = derived_bound(socket, value);

	if (value->quality & UNCORE_ABSENT) {
		fprintf(out, ",,%s,absent", record->units[metric]);
		return;
	}
	uncore_quality_words(value->quality, words, sizeof words);
	fprintf(out, "%" PRIu64 ",", value->count);
	if (!isnan(error))
		fprintf(out, "%.0f", ceil(error));
	fprintf(out, ",%s,", record->units[metric]);
	write_text(out, words);
}

static void write_package(FILE *out, const struct record_socket *socket)
{
	fputc(',', out);
	if (socket->package >= 0)
		fprintf(out, "%" PRId64, socket->package);
}

static void write_region(
	FILE *out, const struct csv_source *source, const struct record_region *region)
{
	const struct record *record = source->record;

	for (uint32_t i = 0; i < region->n_sockets; i++)
		for (uint32_t m = 0; m < record->n_metrics; m++) {
			begin_line(out, record, region);
			fprintf(out, "%" PRIu32 ",%" PRIu64 ",%s,", region->sockets[i].socket,
				region->sockets[i].window_ns, record->metrics[m]);
			write_value(out, record, &region->sockets[i], m);
			write_package(out, &region->sockets[i]);
			end_line(out, source);
		}
	for (size_t i = 0; i < RECORD_UNITS_MAX && *region->work[i].unit; i++) {
		begin_line(out, record, region);
		fprintf(out, ",,work,%.17g,,", region->work[i].amount);
		write_text(out, region->work[i].unit);
		fputs(",,", out);
		end_line(out, source);
	}
}

void csv_write(FILE *out, const struct record *records, uint32_t n_records, const struct runs *runs)
{
	fputs("host,job,team,run,region,ranks,passages,failed,time_ns,socket,window_ns,metric,"
	      "value,error,unit,quality,package,step,begun_ns,ended_ns,sum\n",
		out);
	for (uint32_t i = 0; i < n_records; i++) {
		const bool is_apart = !runs || runs->of[i] == RUNS_APART;
		const struct csv_source source = { &records[i], is_apart ? 0 : runs->of[i] + 1 };

		for (uint32_t k = 0; k < records[i].n_regions; k++)
			write_region(out, &source, &records[i].regions[k]);
	}
}
