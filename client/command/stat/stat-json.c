/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-run.h"

#include <math.h>
#include <stdlib.h>

#include "client/launcher/launch.h"
#include "client/report/record-time.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

/* Begins an object that the caller completes. */
static void stat_json_begin(
	const struct stat_run *run, const struct total *total, bool pretty, struct jsonwriter *ret)
{
	jsonwriter_init(ret, pretty);
	jsonwriter_object(ret, NULL);
	total_json(ret, total, run->reader.handle, &run->reader.machine);
}

static void stat_json_end(struct stat_run *run, struct jsonwriter *json)
{
	jsonwriter_close(json);
	if (jsonwriter_print(json, run->out) == 0)
		return;
	fputs("uncore stat: no memory for the result.\n", stderr);
	run->unwritten = true;
}

void stat_json_interval(struct stat_run *run, const struct total *interval, uint64_t time_ns)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	stat_json_begin(run, interval, false, &json);
	jsonwriter_number(&json, "interval", run->n_intervals);
	jsonwriter_number(&json, "run", run->number);
	jsonwriter_number(&json, "time_ns", time_ns);
	stat_json_end(run, &json);
}

/* What was run, where and when. */
static void stat_json_write_origin(struct jsonwriter *json, const struct stat_run *run)
{
	char host[LAUNCH_HOST_MAX], begun[RECORD_TIME_MAX];
	struct format_socket wall;

	launch_host(host);
	jsonwriter_text(json, "version", UNCORE_VERSION);
	jsonwriter_text(json, "host", host);
	jsonwriter_array(json, "command");
	for (char **word = run->options.command; *word; word++)
		jsonwriter_text(json, NULL, *word);
	jsonwriter_close(json);
	record_time(run->begun_s, begun);
	if (!*begun)
		return;
	jsonwriter_text(json, "begun", begun);
	jsonwriter_array(json, "wall_ns");
	total_show_wall(&run->total, run->reader.handle, &wall);
	for (uint32_t i = 0; i < run->total.runs; i++)
		jsonwriter_number(json, NULL, wall.values[0].each[i * wall.values[0].each_stride]);
	jsonwriter_close(json);
}

static void stat_json_list_until(
	struct jsonwriter *json, const struct until *until, enum until_state state)
{
	for (uint32_t i = 0; i < until->n_metrics; i++)
		if (until->metrics[i].state == state)
			jsonwriter_text(json, NULL, until->metrics[i].name);
}

static void write_until(struct jsonwriter *json, const struct until *until)
{
	const struct until_metric *worst = until_worst(until);

	jsonwriter_object(json, "until");
	jsonwriter_real(json, "wanted_percent", until->percent);
	if (worst && isfinite(worst->error))
		jsonwriter_real(json, "error_percent", worst->error);
	jsonwriter_flag(json, "reached", until->is_reached);
	jsonwriter_array(json, "not_reached");
	stat_json_list_until(json, until, UNTIL_ABOVE);
	jsonwriter_close(json);
	jsonwriter_array(json, "left_out");
	stat_json_list_until(json, until, UNTIL_LEFT_OUT);
	jsonwriter_close(json);
	jsonwriter_close(json);
}

static void write_standing(struct jsonwriter *json, const struct stat_run *run)
{
	if (!run->n_standing)
		return;
	jsonwriter_array(json, "standing");
	for (uint32_t i = 0; i < run->n_standing; i++) {
		const struct standing *one = &run->standing[i];

		jsonwriter_object(json, NULL);
		jsonwriter_number(json, "socket", one->socket);
		jsonwriter_text(
			json, "metric", uncore_metric_name(run->reader.handle, one->metric));
		jsonwriter_text(json, "channel", one->name);
		jsonwriter_flag(json, "has_counted", one->kind == STANDING_STILL);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

/* What total_json() has of one run. */
static void write_cut(struct jsonwriter *json, const struct stat_run *run)
{
	struct format_socket wall;

	jsonwriter_object(json, "cut");
	total_json(json, &run->cut, run->reader.handle, &run->reader.machine);
	jsonwriter_number(json, "run", run->number);
	total_show_wall(&run->cut, run->reader.handle, &wall);
	jsonwriter_number(json, "wall_ns", wall.values[0].count);
	jsonwriter_close(json);
}

void stat_json_result(struct stat_run *run)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	stat_json_begin(run, &run->total, !run->options.interval_ns, &json);
	stat_json_write_origin(&json, run);
	write_standing(&json, run);
	if (run->cut.runs)
		write_cut(&json, run);
	if (run->options.until > 0)
		write_until(&json, &run->until);
	if (*run->failure)
		jsonwriter_text(&json, "failure", run->failure);
	stat_json_end(run, &json);
}
