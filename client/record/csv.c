/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/record/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/format.h"
#include "client/record/derived.h"

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
	fputc('\n', out);
}

static void write_region(FILE *out, const struct record *record, const struct record_region *region)
{
	for (uint32_t i = 0; i < region->n_sockets; i++)
		for (uint32_t m = 0; m < record->n_metrics; m++) {
			begin_line(out, record, region);
			fprintf(out, "%" PRIu32 ",%" PRIu64 ",%s,", region->sockets[i].socket,
				region->sockets[i].window_ns, record->metrics[m]);
			write_value(out, record, &region->sockets[i], m);
			write_package(out, &region->sockets[i]);
		}
	for (size_t i = 0; i < RECORD_UNITS_MAX && *region->work[i].unit; i++) {
		begin_line(out, record, region);
		fprintf(out, ",,work,%.17g,,", region->work[i].amount);
		write_text(out, region->work[i].unit);
		fputs(",,\n", out);
	}
}

void csv_write(FILE *out, const struct record *records, uint32_t n_records)
{
	fputs("host,job,team,run,region,ranks,passages,failed,time_ns,socket,window_ns,metric,"
	      "value,error,unit,quality,package\n",
		out);
	for (uint32_t i = 0; i < n_records; i++)
		for (uint32_t k = 0; k < records[i].n_regions; k++)
			write_region(out, &records[i], &records[i].regions[k]);
}
