/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/report/json.h"

#include <stdio.h>

#include "client/report/derived.h"
#include "client/report/format.h"
#include "client/report/ranks.h"
#include "client/report/record-time.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

enum { NOTE_MAX = 256 };

/* --- figures --- */

static void show_socket(
	const struct record *record, const struct record_socket *socket, struct format_socket *ret)
{
	*ret = (struct format_socket){
		.socket = socket->socket,
		.package = socket->package,
		.n_values = record->n_metrics,
		.window_ns = socket->window_ns,
		.skew_ns = socket->skew_ns,
	};
	for (uint32_t i = 0; i < record->n_metrics; i++)
		ret->values[i] = (struct format_value){
			.name = record->metrics[i],
			.unit = record->units[i],
			.why = socket->values[i].why ? socket->values[i].why
						     : "for an unknown reason",
			.count = socket->values[i].count,
			.quality = socket->values[i].quality,
			.share = socket->values[i].has_share ? &socket->values[i] : NULL,
		};
}

/* How far the window extends beyond a job. */
static void ends_json(struct jsonwriter *json, const struct record_socket *socket)
{
	jsonwriter_known(json, "early_ns", socket->early_ns >= 0, socket->early_ns);
	jsonwriter_known(json, "late_ns", socket->late_ns >= 0, socket->late_ns);
	if (socket->age_ns >= 0)
		jsonwriter_number(json, "age_ns", (uint64_t)socket->age_ns);
}

static void report_socket_json(struct jsonwriter *json, const struct record *record,
	const struct record_region *region, uint32_t i)
{
	struct format_socket shown;

	show_socket(record, &region->sockets[i], &shown);
	jsonwriter_object(json, NULL);
	format_json_members(json, &shown);
	jsonwriter_number(json, "quantum_bytes", region->sockets[i].quantum_bytes);
	if (record->rows)
		jsonwriter_known(json, "others", region->sockets[i].n_others >= 0,
			region->sockets[i].n_others);
	if (record_is_short(record))
		ends_json(json, &region->sockets[i]);
	jsonwriter_close(json);
}

static void sockets_json(struct jsonwriter *json, const char *key, const struct record *record,
	const struct record_region *region)
{
	jsonwriter_array(json, key);
	for (uint32_t i = 0; region && i < region->n_sockets; i++)
		report_socket_json(json, record, region, i);
	jsonwriter_close(json);
}

/* --- what follows from the figures --- */

static void derived_json(struct jsonwriter *json, const char *key, const struct derived *derived)
{
	jsonwriter_object(json, key);
	if (derived_is_known(derived)) {
		jsonwriter_real(json, "value", derived->value);
		jsonwriter_real(json, "error", derived->error);
	} else {
		jsonwriter_text(json, "absent", derived->why);
	}
	jsonwriter_close(json);
}

static void per_work_json(
	struct jsonwriter *json, const struct record_region *region, struct derived total)
{
	jsonwriter_object(json, "per_work");
	for (size_t i = 0; i < RECORD_UNITS_MAX && *region->work[i].unit; i++) {
		struct derived each = derived_per_work(&region->work[i], total);

		derived_json(json, region->work[i].unit, &each);
	}
	jsonwriter_close(json);
}

static void predicted_json(
	struct jsonwriter *json, const struct record_region *region, struct derived volume)
{
	jsonwriter_object(json, "predicted");
	for (size_t i = 0; i < RECORD_UNITS_MAX && *region->work[i].unit; i++) {
		const struct record_work *work = &region->work[i];
		const struct derived ratio = derived_of_predicted(work, volume);

		if (!(work->predicted > 0))
			continue;
		jsonwriter_object(json, work->unit);
		jsonwriter_real(json, "per_work", work->predicted);
		derived_json(json, "ratio", &ratio);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

static void quotients_json(
	struct jsonwriter *json, const struct record_region *region, struct derived total)
{
	struct derived each = derived_per_passage(region, total);

	derived_json(json, "total", &total);
	derived_json(json, "per_passage", &each);
	per_work_json(json, region, total);
}

static void metric_json(struct jsonwriter *json, const struct record *record,
	const struct record_region *region, uint32_t metric)
{
	struct derived rate = derived_rate(region, metric);

	rate.value *= 1e9; /* per second */
	rate.error *= 1e9;
	jsonwriter_object(json, record->metrics[metric]);
	quotients_json(json, region, derived_total(region, metric));
	derived_json(json, "rate", &rate);
	jsonwriter_close(json);
}

static void all_derived_json(
	struct jsonwriter *json, const struct record *record, const struct record_region *region)
{
	struct derived read_write = derived_read_write(record, region);
	struct derived store_ratio = derived_store_ratio(record, region);
	struct derived evaded = derived_evaded(record, region);
	struct derived volume = derived_volume(record, region);

	jsonwriter_object(json, "derived");
	jsonwriter_object(json, "metrics");
	for (uint32_t i = 0; i < record->n_metrics; i++)
		if (!format_is_check(record->metrics[i]))
			metric_json(json, record, region, i);
	jsonwriter_close(json);
	jsonwriter_object(json, "volume");
	quotients_json(json, region, volume);
	jsonwriter_close(json);
	predicted_json(json, region, volume);
	derived_json(json, "read_write", &read_write);
	derived_json(json, "store_ratio", &store_ratio);
	derived_json(json, "evaded", &evaded);
	jsonwriter_close(json);
}

/* --- regions --- */

static void work_json(struct jsonwriter *json, const struct record_region *region)
{
	jsonwriter_object(json, "work");
	for (size_t i = 0; i < RECORD_UNITS_MAX && *region->work[i].unit; i++)
		jsonwriter_real(json, region->work[i].unit, region->work[i].amount);
	jsonwriter_close(json);
}

void record_json_misses(struct jsonwriter *json, const struct record_misses *misses)
{
	if (!*misses->event && !misses->absent)
		return;
	jsonwriter_object(json, "misses");
	jsonwriter_text_or_null(json, "event", misses->event);
	if (misses->absent)
		jsonwriter_text(json, "absent", misses->absent);
	else
		jsonwriter_number(json, "count", misses->count);
	jsonwriter_close(json);
}

void record_json_tags(struct jsonwriter *json, const struct record_region *region)
{
	if (region->run)
		jsonwriter_number(json, "run", region->run);
	if (region->node)
		jsonwriter_number(json, "node", region->node - 1);
}

static void passages_json(
	struct jsonwriter *json, const struct record *record, const struct record_region *region)
{
	jsonwriter_number(json, "count", region->n_passages);
	jsonwriter_number(json, "failed", region->n_failed);
	jsonwriter_number(json, "open", region->n_open);
	jsonwriter_number(json, "died", region->n_died);
	jsonwriter_number(json, "ranks", region->n_ranks);
	jsonwriter_number(json, "time_ns", region->time_ns);
	jsonwriter_number(json, "window_ns", derived_window_ns(region));
	jsonwriter_number(json, "lost_ns", region->lost_ns);
	jsonwriter_number(json, "shared_ns", region->shared_ns);
	ranks_json_region(json, record, region);
	work_json(json, region);
	record_json_misses(json, &region->misses);
}

static void report_region_json(
	struct jsonwriter *json, const struct record *record, const struct record_region *region)
{
	const bool is_short = record_is_short(record);

	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "name", region->name);
	if (region->title)
		jsonwriter_text(json, "title", region->title);
	record_json_tags(json, region);
	if (!is_short)
		passages_json(json, record, region);
	sockets_json(json, "sockets", record, region);
	if (region->n_sockets && !is_short)
		all_derived_json(json, record, region);
	jsonwriter_close(json);
}

/* --- the whole --- */

/* A process alone has a pid and a rank; a team has members. */
static void process_json(struct jsonwriter *json, const struct record *record)
{
	const struct record_member *alone = record->n_members == 1 ? record->members : NULL;
	const int64_t rank = alone ? alone->rank : -1;

	jsonwriter_known(json, "pid", alone, alone ? alone->pid : 0);
	jsonwriter_known(json, "rank", rank >= 0, rank);
}

static void note_json(struct jsonwriter *json, const struct record *record)
{
	const char *warning = format_warning(record->platform);
	char note[NOTE_MAX];

	snprintf(note, sizeof note,
		"%s%sEverything that each socket did is counted, not only this program.",
		warning ? warning : "", warning ? " " : "");
	jsonwriter_text(json, "note", note);
}

/* Of which run it is, and what it lacks. */
static void run_json(struct jsonwriter *json, const struct record *record)
{
	jsonwriter_text_or_null(json, "host", record->host);
	jsonwriter_text_or_null(json, "job", record->job);
	jsonwriter_text_or_null(json, "step", *record->team ? record->team : record->step);
	record_json_time(json, "begun", record->begun_ns);
	record_json_time(json, "ended", record->ended_ns);
	if (record->failure)
		jsonwriter_text(json, "failure", record->failure);
	if (record->warning)
		jsonwriter_text(json, "warning", record->warning);
}

static void team_json(struct jsonwriter *json, const struct record *record)
{
	jsonwriter_text_or_null(json, "team", record->team);
	jsonwriter_number(json, "run", record->run);
	jsonwriter_text_or_null(json, "label", record->label);
	jsonwriter_text_or_null(json, "command", record->command);
	jsonwriter_known(json, "expected", record->n_expected, record->n_expected);
	jsonwriter_known(json, "not_joined", *record->team && record->n_expected,
		record_count_not_joined(record));
	jsonwriter_array(json, "members");
	for (uint32_t i = 0; record->members && i < record->n_members; i++) {
		const struct record_member *member = &record->members[i];

		jsonwriter_object(json, NULL);
		jsonwriter_known(json, "rank", member->rank >= 0, member->rank);
		jsonwriter_signed(json, "pid", member->pid);
		jsonwriter_text_or_null(json, "cpus", member->cpus);
		jsonwriter_flag(json, "died", member->died);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

/* Of a batch system's job. */
static void batch_json(struct jsonwriter *json, const struct record *record)
{
	if (!record->rows)
		return;
	jsonwriter_known(json, "uid", record->batch.uid >= 0, record->batch.uid);
	jsonwriter_real(json, "seconds", record->batch.seconds);
	jsonwriter_text_or_null(json, "exit", record->batch.exit);
	if (record_is_short(record))
		jsonwriter_number(json, "monotonic_ns", record->batch.monotonic_ns);
}

/* null: not known. */
static void cost_json(struct jsonwriter *json, const struct record *record)
{
	jsonwriter_object(json, "cost");
	jsonwriter_real(json, "total_ns", derived_cost_ns(record));
	jsonwriter_number(json, "reading_calls", record->cost.n_reading);
	jsonwriter_number(json, "reading_ns", record->cost.reading_ns);
	jsonwriter_number(json, "timed_calls", record->cost.n_timed);
	jsonwriter_number(json, "timed_ns", record->cost.timed_ns);
	if (record->cost.n_misses) {
		jsonwriter_number(json, "misses_calls", record->cost.n_misses);
		jsonwriter_number(json, "misses_ns", record->cost.misses_ns);
	}
	jsonwriter_close(json);
}

static void metrics_json(struct jsonwriter *json, const struct record *record)
{
	jsonwriter_object(json, "metrics");
	for (uint32_t i = 0; i < record->n_metrics; i++)
		jsonwriter_text(json, record->metrics[i], record->units[i]);
	jsonwriter_close(json);
}

void record_json_member(struct jsonwriter *json, const char *key, const struct record *record)
{
	jsonwriter_object(json, key);
	jsonwriter_number(json, "schema", RECORD_SCHEMA);
	jsonwriter_text_or_null(json, "version", record->version);
	format_json_origin(json, *record->platform ? record->platform : NULL, record->generation);
	run_json(json, record);
	batch_json(json, record);
	if (!record_is_short(record)) {
		note_json(json, record);
		process_json(json, record);
		team_json(json, record);
		cost_json(json, record);
	}
	metrics_json(json, record);
	jsonwriter_array(json, "regions");
	for (uint32_t i = 0; i < record->n_regions; i++)
		report_region_json(json, record, &record->regions[i]);
	jsonwriter_close(json);
	sockets_json(json, "outside", record, record->outside);
	jsonwriter_close(json);
}

int record_json(const struct record *record, char **ret_text)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	jsonwriter_init(&json, !record_is_short(record));
	record_json_member(&json, NULL, record);
	return jsonwriter_finish(&json, ret_text);
}
