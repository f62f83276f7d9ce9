/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-csv.h"

#include <inttypes.h>
#include <string.h>

#include "client/command/stat/wall.h"
#include "client/report/format.h"

/* What the rows of one block share: the end of an interval, or the number of runs. */
struct block {
	FILE *out;
	uint32_t runs;
	uint64_t run, interval, time_ns; /* interval 0: the whole */
};

static void begin(struct stat_run *run)
{
	if (!run->headed)
		fputs("socket,metric,unit,runs,mean,stddev,median,min,max,bytes_per_s,window_ns,"
		      "skew_ns,quality,absent,run,interval,time_ns,package\n",
			run->out);
	run->headed = true;
}

/* RFC 4180: a field with a comma, a quote or a line's end stands in quotes, which are doubled. */
static void write_text(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

static void write_end(const struct block *block, const struct format_socket *socket)
{
	if (block->interval)
		fprintf(block->out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", block->run,
			block->interval, block->time_ns);
	else
		fputs(",,,", block->out);
	if (socket->package >= 0)
		fprintf(block->out, "%" PRId64, socket->package);
	fputc('\n', block->out);
}

static void write_counts(
	const struct block *block, const struct format_socket *socket, uint32_t metric)
{
	const struct format_value *value = &socket->values[metric];

	fprintf(block->out, "%" PRIu64 ",", value->count);
	if (socket->repeated)
		fprintf(block->out, "%.0f", value->deviation);
	if (socket->ranged)
		fprintf(block->out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", value->median,
			value->min, value->max);
	else
		fputs(",,,,", block->out);
	if (strcmp(value->unit, "bytes") == 0)
		fprintf(block->out, "%.0f", 1e9 * value->rate);
}

/* Words of quality are separated by blanks, so that a table program leaves them in one field. */
static void write_quality(FILE *out, uint32_t quality)
{
	char words[FORMAT_QUALITY_MAX];

	uncore_quality_words(quality, words, sizeof words);
	for (char *c = words; *c; c++)
		fputc(*c == ',' ? ' ' : *c, out);
}

static void write_row(
	const struct block *block, const struct format_socket *socket, uint32_t metric)
{
	const struct format_value *value = &socket->values[metric];
	bool absent = value->quality & UNCORE_ABSENT;
	bool all = socket->socket == FORMAT_ALL_SOCKETS;

	if (all)
		fputs("all,", block->out);
	else
		fprintf(block->out, "%" PRIu32 ",", socket->socket);
	fprintf(block->out, "%s,%s,%" PRIu32 ",", value->name, value->unit, block->runs);
	if (absent)
		fputs(",,,,,", block->out);
	else
		write_counts(block, socket, metric);
	if (all)
		fputs(",,,", block->out);
	else
		fprintf(block->out, ",%" PRIu64 ",%" PRIu64 ",", socket->window_ns,
			socket->skew_ns);
	if (!absent)
		write_quality(block->out, value->quality);
	fputc(',', block->out);
	if (absent)
		write_text(block->out, value->why);
	fputc(',', block->out);
	write_end(block, socket);
}

static void write_rows(
	const struct stat_run *run, const struct block *block, const struct total *total)
{
	struct format_socket socket;

	for (uint32_t i = 0; i <= total->n_sockets; i++) {
		if (i < total->n_sockets)
			total_show(total, run->handle, i, &socket);
		else
			total_show_all(total, run->handle, &socket);
		for (uint32_t k = 0; k < socket.n_values; k++)
			write_row(block, &socket, k);
	}
}

void stat_csv_interval(struct stat_run *run, const struct total *interval, uint64_t time_ns)
{
	struct block block = { run->out, 1, run->number, run->n_intervals, time_ns };

	begin(run);
	write_rows(run, &block, interval);
}

void stat_csv_result(struct stat_run *run)
{
	struct block block = { .out = run->out, .runs = run->total.runs };
	struct format_socket wall;

	begin(run);
	if (!run->total.runs)
		return;
	write_rows(run, &block, &run->total);
	wall_show(run->wall_ns, run->total.runs, &wall);
	write_row(&block, &wall, 0);
}
