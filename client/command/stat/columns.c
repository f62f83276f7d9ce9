/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/command/frame/output.h"
#include "client/report/format.h"
#include "common/macro.h"
#include "common/text.h"
#include "common/unit.h"

enum { TIME_WIDTH = 11, RUN_WIDTH = 5, PART_WIDTH = 16, LEAST_WIDTH = 10, LINES = 20 };

/* What is shown of a socket, from all to little: the first that fits is taken. */
static const struct layout {
	bool memory_only, totals_only, sum_of_sockets;
} layouts[] = {
	{ false, false, false },
	{ true, false, false },
	{ true, true, false },
	{ true, false, true },
	{ true, true, true },
};

static const struct layout all_of_one = { false, false, true };

/* What columns_print() has at hand: the sockets, and last all of them together. */
struct table {
	FILE *out;
	uint32_t n_sockets;
	struct format_socket *sockets;
	const struct layout *layout;
};

static bool is_column(const struct layout *layout, const struct format_value *value)
{
	const char *part = strrchr(value->name, '.');

	if (value->quality & UNCORE_ABSENT || format_is_check(value->name))
		return false;
	if (!part || layout->totals_only)
		return part ? strcmp(part, ".total") == 0 : !layout->memory_only;
	return true;
}

static int stat_columns_width_of(const struct format_value *value)
{
	const int n = (int)strlen(value->name) + 1;

	return n > LEAST_WIDTH ? n : LEAST_WIDTH;
}

/* Calls @write for each column. Returns their width. */
static int each_column(const struct table *table,
	void (*write)(const struct table *table, const struct format_socket *socket, uint32_t i))
{
	const bool sum = table->layout->sum_of_sockets;
	int width = 0;

	for (uint32_t k = sum ? table->n_sockets : 0; k < table->n_sockets + sum; k++)
		for (uint32_t i = 0; i < table->sockets[k].n_values; i++)
			if (is_column(table->layout, &table->sockets[k].values[i])) {
				width += stat_columns_width_of(&table->sockets[k].values[i]);
				if (write)
					write(table, &table->sockets[k], i);
			}
	return width;
}

static void write_name(const struct table *table, const struct format_socket *socket, uint32_t i)
{
	const struct format_value *value = &socket->values[i];

	fprintf(table->out, "%*s", stat_columns_width_of(value), value->name);
}

/* The socket is told once, above its first column. */
static void stat_columns_write_socket(
	const struct table *table, const struct format_socket *socket, uint32_t i)
{
	char text[32] = "all";
	uint32_t first = 0;

	while (!is_column(table->layout, &socket->values[first]))
		first++;
	if (socket->socket != FORMAT_ALL_SOCKETS)
		snprintf(text, sizeof text, "socket %" PRIu32, socket->socket);
	fprintf(table->out, "%*s", stat_columns_width_of(&socket->values[i]),
		i == first ? text : "");
}

static void stat_columns_write_unit(
	const struct table *table, const struct format_socket *socket, uint32_t i)
{
	const struct format_value *value = &socket->values[i];

	fprintf(table->out, "%*s", stat_columns_width_of(value), unit_of(value->unit)->per_ns);
}

static void stat_columns_write_rate(
	const struct table *table, const struct format_socket *socket, uint32_t i)
{
	fprintf(table->out, "%*.3f", stat_columns_width_of(&socket->values[i]),
		socket->values[i].rate);
}

static void stat_columns_write_heading(const struct table *table, int run_width)
{
	const char *run = run_width ? "run" : "";

	output_style(table->out, STYLE_HEADING);
	fprintf(table->out, "%*s", run_width + TIME_WIDTH, "");
	each_column(table, stat_columns_write_socket);
	fprintf(table->out, "\n%-*s%*s", run_width, run, TIME_WIDTH, "time");
	each_column(table, write_name);
	fprintf(table->out, "\n%*s", run_width + TIME_WIDTH, "s");
	each_column(table, stat_columns_write_unit);
	fputc('\n', table->out);
	output_style(table->out, STYLE_PLAIN);
}

/* Each part in a line of its own, below a heading where the columns change. @time_ns is 0: of the
 * whole run. */
static void print_parts(const struct stat_run *run, const struct total *total, uint64_t time_ns)
{
	struct format_socket part;
	const struct table table = { run->out, 0, &part, &all_of_one };
	int last = 0, width;

	for (uint32_t i = 0; i < total_n_parts(total); i++) {
		total_show(total, run->reader.handle, total->n_sockets + 1 + i, &part);
		width = each_column(&table, NULL);
		if (width && width != last && (!time_ns || run->n_intervals <= 1)) {
			fprintf(run->out, "%*s  %-*s", TIME_WIDTH, "time s", PART_WIDTH, "GB/s of");
			each_column(&table, write_name);
			fputc('\n', run->out);
		}
		last = width ? width : last;
		fprintf(run->out, "%*.6f  %2" PRIu32 "/%-*.12s", TIME_WIDTH,
			(double)(time_ns ? time_ns : part.window_ns) / 1e9, part.socket,
			PART_WIDTH - 3, part.part);
		each_column(&table, stat_columns_write_rate);
		fputs(width ? "\n" : "absent: it is not known which channels it has\n", run->out);
	}
}

void columns_print_parts(const struct stat_run *run)
{
	print_parts(run, &run->total, 0);
	fputc('\n', run->out);
}

void columns_print(struct stat_run *run, const struct total *interval, uint64_t time_ns)
{
	const int run_width = run->options.repeat > 1 ? RUN_WIDTH : 0;
	_cleanup_free_ struct format_socket *sockets =
		calloc(interval->n_sockets + 1, sizeof *sockets);
	struct table table = { run->out, interval->n_sockets, sockets, layouts };

	if (interval->parts)
		print_parts(run, interval, time_ns);
	if (!sockets || interval->parts)
		return;
	for (uint32_t i = 0; i <= interval->n_sockets; i++)
		total_show(interval, run->reader.handle, i, &sockets[i]);
	while (table.layout < &layouts[ARRAY_SIZE(layouts) - 1] &&
		each_column(&table, NULL) > TEXT_WIDTH - TIME_WIDTH - run_width)
		table.layout++;
	if (run->n_intervals % LINES == 1 && (run->n_intervals == 1 || isatty(fileno(run->out))))
		stat_columns_write_heading(&table, run_width);
	if (run_width)
		fprintf(run->out, "%-*" PRIu64, RUN_WIDTH, run->number);
	fprintf(run->out, "%*.6f", TIME_WIDTH, (double)time_ns / 1e9);
	each_column(&table, stat_columns_write_rate);
	fputc('\n', run->out);
}
