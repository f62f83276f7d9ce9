/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/output.h"
#include "client/command/frame/validated.h"
#include "client/command/stat/stat-csv.h"
#include "client/command/stat/stat-json.h"
#include "client/command/stat/stat-reading.h"
#include "client/command/stat/wall.h"
#include "client/report/format.h"
#include "common/macro.h"

void stat_flush(struct stat_run *run)
{
	const char *path = run->options.output_path;

	if (!run->unwritten && output_check(run->out, "uncore stat", path ? path : "stderr") < 0)
		run->unwritten = true;
}

static void print_interval_rows(
	const struct stat_run *run, const struct total *interval, uint64_t time_ns)
{
	struct format_socket socket;

	for (uint32_t i = 0; i < interval->n_sockets; i++) {
		total_show(interval, run->reader.handle, i, &socket);
		for (uint32_t k = 0; k < socket.n_values; k++) {
			if (socket.values[k].quality & UNCORE_ABSENT ||
				format_is_check(socket.values[k].name))
				continue;
			fprintf(run->out, "%12.6f  ", (double)time_ns / 1e9);
			if (run->options.repeat > 1)
				fprintf(run->out, "run %-4" PRIu64 " ", run->number);
			fprintf(run->out, "socket %-2" PRIu32 " ", i);
			format_row(run->out, &socket.values[k], false);
		}
	}
}

/* Prints what passed since the last interval, up to run->now. */
void stat_print_interval(struct stat_run *run)
{
	_cleanup_(total_done) struct total interval = {};
	uint64_t time_ns = stat_reading_ns(&run->now) - run->started_ns;

	if (total_init(&interval, run->reader.machine.n_sockets) < 0)
		return;
	if (total_add(&interval, run->since, run->now.samples) < 0) {
		stat_complain(run, uncore_error_text());
		return;
	}
	memcpy(run->since, run->now.samples, run->now.n_sockets * sizeof *run->since);
	run->n_intervals++;
	if (run->options.form == STAT_JSON)
		stat_json_interval(run, &interval, time_ns);
	else if (run->options.form == STAT_CSV)
		stat_csv_interval(run, &interval, time_ns);
	else
		print_interval_rows(run, &interval, time_ns);
	stat_flush(run);
}

static void print_heading(const struct stat_run *run)
{
	fprintf(run->out, run->total.runs ? "\n Counts while '" : "\n No counts of '");
	for (char **word = run->options.command; *word; word++)
		fprintf(run->out, word == run->options.command ? "%s" : " %s", *word);
	fprintf(run->out, run->total.runs ? "' ran" : "'");
	if (run->total.runs > 1)
		fprintf(run->out, " (mean and standard deviation of %" PRIu32 " runs)",
			run->total.runs);
	if (run->reader.machine.platform)
		fprintf(run->out, ", platform %s", run->reader.machine.platform);
	fprintf(run->out, ":\n\n");
}

/* NaN: the socket has no such value. */
static double rate_of(const struct format_socket *socket, const char *metric)
{
	for (uint32_t i = 0; i < socket->n_values; i++) {
		const struct format_value *value = &socket->values[i];

		if (strcmp(value->name, metric) == 0 && !(value->quality & UNCORE_ABSENT))
			return value->rate;
	}
	return NAN;
}

/* Notes how much of the bandwidth that kernels reached on this machine DRAM's reads and writes
 * took. */
static void note_peak(struct json_object *validated, struct format_socket *socket)
{
	double peak = validated_peak(validated, socket->socket);
	double total = rate_of(socket, "dram.total");
	double rate =
		isnan(total) ? rate_of(socket, "dram.read") + rate_of(socket, "dram.write") : total;

	if (peak > 0 && !isnan(rate))
		snprintf(socket->note, sizeof socket->note,
			"%.0f %% of %.1f GB/s, the most that a kernel of `uncore validate` moved",
			100 * rate / peak, peak);
}

static void print_wall(const struct stat_run *run)
{
	const struct format_value *wall;
	struct format_socket socket;

	wall_show(run->wall_ns, run->total.runs, &socket);
	wall = &socket.values[0];
	fprintf(run->out, " wall time %.6f s", (double)wall->count / 1e9);
	if (socket.repeated)
		fprintf(run->out, " +- %.2f %%", 100 * wall->deviation / (double)wall->count);
	if (socket.ranged)
		fprintf(run->out, ", median %.6f s, minimum %.6f s, maximum %.6f s",
			(double)wall->median / 1e9, (double)wall->min / 1e9,
			(double)wall->max / 1e9);
	fprintf(run->out, "\n");
}

static void print_figures(const struct stat_run *run)
{
	struct json_object *validated = validated_read(run->reader.machine.platform);
	struct format_socket socket;

	for (uint32_t i = 0; i < run->total.n_sockets; i++) {
		total_show(&run->total, run->reader.handle, i, &socket);
		note_peak(validated, &socket);
		format_rows(run->out, &socket);
	}
	validated_free(validated);
	if (run->total.n_sockets > 1) {
		total_show_all(&run->total, run->reader.handle, &socket);
		format_rows(run->out, &socket);
	}
	print_wall(run);
}

static void print_table(const struct stat_run *run)
{
	print_heading(run);
	if (run->total.runs)
		print_figures(run);
	if (run->options.until > 0)
		until_tell(&run->until, run->out, " ");
	if (*run->failure)
		fprintf(run->out, " Failure: %s\n", run->failure);
	if (run->reader.machine.platform)
		format_caveats(run->out, run->reader.machine.platform, "this command");
}

void stat_print_result(struct stat_run *run)
{
	if (run->options.form == STAT_JSON)
		stat_json_result(run);
	else if (run->options.form == STAT_CSV)
		stat_csv_result(run);
	else
		print_table(run);
	stat_flush(run);
	/* The table has it. JSON has it, too, but a program may be its reader. */
	if (run->options.until > 0 &&
		(run->options.form == STAT_CSV ||
			(run->options.form == STAT_JSON && run->out != stderr)))
		until_tell(&run->until, stderr, "uncore stat: ");
}
