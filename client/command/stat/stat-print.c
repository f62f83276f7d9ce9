/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/output.h"
#include "client/command/frame/validated.h"
#include "client/report/format.h"
#include "common/macro.h"
#include "common/text.h"

/* Writes out what was printed; notes in @run if that fails. */
static void stat_flush(struct stat_run *run)
{
	const char *path = run->options.output_path;

	if (!run->unwritten &&
		output_check(run->out, "uncore stat", path ? written_name(path) : "stderr") < 0)
		run->unwritten = true;
}

void stat_end_file(struct stat_run *run)
{
	int r;

	if (!run->file.out)
		return;
	run->out = NULL;
	r = run->unwritten ? 0 : written_end(&run->file);
	written_done(&run->file);
	if (r == 0)
		return;
	run->unwritten = true;
	written_complain("uncore stat", run->options.output_path, r);
}

/* Prints what passed since the last interval, up to run->now. */
void stat_print_interval(struct stat_run *run)
{
	_cleanup_(total_done) struct total interval = {};
	uint64_t time_ns = readout_end_ns(&run->now) - run->started_ns;
	const struct course_point time = { readout_end_ns(run->since) - run->started_ns, time_ns };
	struct readout last;

	if (total_init_like(&interval, &run->total) < 0)
		return;
	if (total_add_interval(&interval, run->since, &run->now) < 0) {
		stat_complain(run, uncore_error_text());
		return;
	}
	last = run->last;
	run->last = run->now;
	run->now = last;
	run->since = &run->last;
	run->n_intervals++;
	if (run->page.file.out)
		stat_course_note(run, &interval, time);
	stat_trace_note(run, &interval,
		(struct course_point){
			time.begin_ns + run->started_ns, readout_end_ns(&run->last) });
	if (!run->options.interval_ns)
		return;
	if (run->options.form == STAT_JSON)
		stat_json_interval(run, &interval, time_ns);
	else if (run->options.form == STAT_CSV)
		stat_csv_interval(run, &interval, time_ns);
	else
		columns_print(run, &interval, time_ns);
	stat_flush(run);
}

/* "'sleep 1'", or what was waited for. Returns how many columns it took. */
static size_t write_subject(const struct stat_run *run)
{
	const char *pids = run->options.pids;
	int n = 0;

	if (!*run->options.command && pids)
		return (size_t)fprintf(run->out,
			"everything that the sockets did while process%s %s lived",
			strchr(pids, ',') ? "es" : "", pids);
	if (!*run->options.command)
		return (size_t)fprintf(run->out, "everything that the sockets did");
	for (char **word = run->options.command; *word; word++)
		n += fprintf(run->out, word == run->options.command ? "'%s" : " %s", *word);
	fputc('\'', run->out);
	return (size_t)n + 1;
}

static void stat_print_heading(const struct stat_run *run)
{
	const bool has_command = *run->options.command;
	char rest[128 + UNCORE_NAME_MAX] = "";
	size_t at;

	at = (size_t)fprintf(run->out, !run->total.runs ? "\n No counts of "
				       : has_command    ? "\n Counts while "
							: "\n Counts of ");
	at += write_subject(run) - 1; /* without the newline */
	if (has_command && run->total.runs) {
		fputc(' ', run->out);
		at++;
		text_append(rest, sizeof rest, "ran");
	}
	if (run->total.runs > 1)
		text_append(rest, sizeof rest, " (mean +- deviation of %" PRIu32 " runs)",
			run->total.runs);
	if (run->reader.machine.platform)
		text_append(rest, sizeof rest, ", platform %s", run->reader.machine.platform);
	text_append(rest, sizeof rest, ":");
	text_fold(run->out, rest, at, 3);
	fputc('\n', run->out);
}

/* Notes how much of the bandwidth that kernels reached on this machine DRAM's reads and writes
 * took. No figure of a vendor is shown in its place. */
static void note_peak(const struct validated *validated, struct format_socket *socket)
{
	double peak = validated_peak(validated, socket->socket);
	const struct format_value *total = format_find(socket, "dram.total");

	if (peak > 0 && total && !(total->quality & UNCORE_ABSENT))
		snprintf(socket->note, sizeof socket->note,
			"%.0f %% of %.1f GB/s, the most that a kernel of `uncore validate` moved",
			100 * total->rate / peak, peak);
}

static void print_wall(const struct stat_run *run)
{
	const struct format_value *wall;
	struct format_socket socket;

	total_show_wall(&run->total, run->reader.handle, &socket);
	wall = &socket.values[0];
	fprintf(run->out, *run->options.command ? " wall time %.6f s" : " measured for %.6f s",
		(double)wall->count / 1e9);
	if (socket.repeated)
		fprintf(run->out, " +- %.2f %%", 100 * wall->deviation / (double)wall->count);
	if (socket.ranged)
		fprintf(run->out, "\n     median %.6f s, minimum %.6f s, maximum %.6f s",
			(double)wall->median / 1e9, (double)wall->min / 1e9,
			(double)wall->max / 1e9);
	fprintf(run->out, "\n");
}

static void stat_print_rows(const struct stat_run *run, const struct validated *validated)
{
	const uint32_t n = run->total.n_sockets;
	struct format_socket shown[2]; /* this one, and the one above it */

	for (uint32_t i = 0; i < n + (n > 1); i++) {
		struct format_socket *socket = &shown[i % 2];

		total_show(&run->total, run->reader.handle, i, socket);
		note_peak(validated, socket);
		format_rows(run->out, socket, i ? &shown[(i + 1) % 2] : NULL);
	}
	if (run->total.parts)
		columns_print_parts(run);
}

static void print_figures(const struct stat_run *run, const struct validated *validated)
{
	stat_print_rows(run, validated);
	if (!validated->report && !format_warning(run->reader.machine.platform))
		fputs(" share of the peak: -, since nobody has kept a report of `uncore validate` "
		      "here\n",
			run->out);
	print_wall(run);
	background_note(run);
}

/* The reason why a sum is flagged as partial. */
static void tell_standing(const struct stat_run *run, FILE *out, const char *before)
{
	for (uint32_t i = 0; i < run->n_standing; i++) {
		const struct standing *one = &run->standing[i];
		char text[256];

		snprintf(text, sizeof text,
			"%s%s of socket %" PRIu32 " may be too low: %s %s, while its %" PRIu32
			" sisters counted.%s",
			before, uncore_metric_name(run->reader.handle, one->metric), one->socket,
			one->name,
			one->kind == STANDING_NEVER ? "has counted nothing since uncored began"
						    : "stood still",
			one->n_sisters,
			one->kind == STANDING_NEVER
				? " If no memory is fitted there, that is right."
				: "");
		fputs(out == run->out ? " " : "", out);
		text_fold(out, text, 1, 3);
	}
}

static void print_cut(const struct stat_run *run, const struct validated *validated)
{
	struct stat_run cut = *run;

	cut.total = run->cut;
	fprintf(run->out, "\n Run %" PRIu64 " was cut short by a signal, and is in no mean:\n",
		run->number);
	stat_print_rows(&cut, validated);
	print_wall(&cut);
}

static void stat_print_table(const struct stat_run *run)
{
	_cleanup_(validated_done) struct validated validated = { .report = NULL };

	if (run->reader.machine.platform)
		validated_read(&validated, run->reader.machine.platform);
	output_style(run->out, STYLE_HEADING);
	stat_print_heading(run);
	output_style(run->out, STYLE_PLAIN);
	if (run->total.runs)
		print_figures(run, &validated);
	if (run->cut.runs)
		print_cut(run, &validated);
	tell_standing(run, run->out, "");
	if (run->options.until > 0)
		until_tell(&run->until, run->out, " ");
	if (*run->failure)
		fprintf(run->out, " Failure: %s\n", run->failure);
	output_style(run->out, STYLE_DOUBT);
	if (run->reader.machine.platform)
		format_caveats(run->out, run->reader.machine.platform,
			*run->options.command ? "this command" : "one program");
	output_style(run->out, STYLE_PLAIN);
}

/* Intervals have been printed already. */
static void stat_print_line(struct stat_run *run)
{
	if (run->options.interval_ns || !run->total.runs)
		return;
	run->n_intervals = 1;
	columns_print(run, &run->total, run->total.sockets[0].window_ns / run->total.runs);
}

void stat_print_result(struct stat_run *run)
{
	if (run->options.form == STAT_JSON)
		stat_json_result(run);
	else if (run->options.form == STAT_CSV)
		stat_csv_result(run);
	else if (run->options.form == STAT_LINE)
		stat_print_line(run);
	else if (run->total.runs || run->cut.runs ||
		 run->options.output_path) /* stderr has the failure already */
		stat_print_table(run);
	stat_flush(run);
	if (run->options.form == STAT_CSV || run->options.form == STAT_LINE)
		tell_standing(run, stderr, "uncore stat: ");
	if (run->options.form == STAT_LINE && run->cut.runs)
		fprintf(stderr,
			"uncore stat: run %" PRIu64
			" was cut short by a signal, and is in no mean.\n",
			run->number);
	/* The table has it. JSON has it, too, but a program may be its reader. */
	if (run->options.until > 0 &&
		(run->options.form == STAT_CSV ||
			(run->options.form == STAT_JSON && run->options.output_path)))
		until_tell(&run->until, stderr, "uncore stat: ");
}

static void print_as(const struct stat_run *run, enum stat_form form, FILE *out)
{
	struct stat_run copy = *run;

	copy.options.form = form;
	copy.options.output_path = NULL;
	copy.out = out;
	if (form == STAT_TABLE)
		stat_print_table(&copy);
	else
		stat_print_result(&copy);
}

void stat_print_page(struct stat_run *run)
{
	struct page *page = &run->page;

	if (!page->file.out)
		return;
	print_as(run, STAT_JSON, page->part[PAGE_DATA]);
	print_as(run, STAT_TABLE, page->part[PAGE_TEXT]);
	stat_course_json(run, page->part[PAGE_MORE]);
	stat_course_still(run, page->part[PAGE_STILL]);
	run->unwritten |= page_write(page) < 0;
}
