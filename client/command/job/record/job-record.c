/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/job-record.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/job/record/job-json.h"
#include "client/command/job/record/job-time.h"
#include "client/records/json.h"
#include "client/records/parse-region.h"
#include "common/macro.h"
#include "common/text.h"

void job_record_drop_figures(struct job_record *record)
{
	json_object_put(take_ptr(record->json));
	record_done(&record->record);
	free(take_ptr(record->sockets));
	record->n_sockets = 0;
}

void job_record_done(struct job_record *record)
{
	job_record_drop_figures(record);
	*record = (struct job_record){ .json = NULL };
}

/* --- figures --- */

/* The first socket defines the metrics and their units. */
static void parse_metrics(
	struct json_reader *reader, struct json_object *socket, struct record *record)
{
	struct json_object *metrics = json_reader_object(reader, socket, "metrics");

	if (metrics && json_object_object_length(metrics) > UNCORE_METRICS_MAX)
		json_reader_fail(reader, "metrics", "has too many metrics");
	if (json_reader_failed(reader))
		return;
	json_object_object_foreach(metrics, name, value)
	{
		const uint32_t i = record->n_metrics++;

		if (strlen(name) >= UNCORE_NAME_MAX || !*name || !text_is_plain(name)) {
			json_reader_fail(reader, "metrics", "has a name that no metric has");
			return;
		}
		strcpy(record->metrics[i], name);
		strcpy(record->units[i], "bytes");
		if (json_has(value, "unit"))
			json_reader_text(reader, value, "unit", JSON_READER_TEXT(record->units[i]));
	}
}

static void parse_socket(struct json_reader *reader, struct json_object *object,
	uint64_t quantum_bytes, struct job_record *ret)
{
	struct record_region *region = &ret->record.regions[0];
	struct record_socket *socket = &region->sockets[region->n_sockets];
	struct job_socket *of_job = &ret->sockets[region->n_sockets];

	if (!json_reader_flag(reader, object, "used")) {
		ret->n_unused++;
		return;
	}
	region->n_sockets++;
	socket->socket = (uint32_t)json_reader_number(reader, object, "socket", PARSE_SOCKETS_MOST);
	socket->package = json_reader_number_or(reader, object, "package", UINT32_MAX, -1);
	socket->window_ns = json_reader_number(reader, object, "window_ns", PARSE_COUNT_MOST);
	socket->skew_ns = json_reader_number(reader, object, "skew_ns", PARSE_COUNT_MOST);
	socket->quantum_bytes = quantum_bytes > 1 ? quantum_bytes : 0;
	of_job->socket = socket->socket;
	of_job->n_others = json_reader_number_or(reader, object, "others", UINT32_MAX, -1);
	parse_values(reader, object, &ret->record, socket);
}

static void parse_sockets(
	struct json_reader *reader, struct json_object *object, struct job_record *ret)
{
	const uint64_t quantum =
		(uint64_t)json_reader_number_or(reader, object, "quantum", INT64_MAX, 0);
	size_t n;
	struct json_object *list =
		json_reader_list(reader, object, "sockets", PARSE_SOCKETS_MOST, &n);

	ret->record.regions[0].sockets = calloc(n + 1, sizeof(struct record_socket));
	ret->sockets = calloc(n + 1, sizeof *ret->sockets);
	if (!ret->record.regions[0].sockets || !ret->sockets) {
		json_reader_fail(reader, "sockets", "is too long for the memory");
		return;
	}
	if (n)
		parse_metrics(reader, json_object_array_get_idx(list, 0), &ret->record);
	for (size_t i = 0; i < n && !json_reader_failed(reader); i++) {
		size_t entered = json_reader_enter_element(reader, "sockets", i);

		parse_socket(reader, json_object_array_get_idx(list, i), quantum, ret);
		json_reader_leave(reader, entered);
	}
	ret->n_sockets = ret->record.regions[0].n_sockets;
}

/* --- the rest --- */

static void parse_time(struct json_reader *reader, struct json_object *object, const char *key,
	char ret_text[JOB_TIME_MAX], int64_t *ret_ns)
{
	json_reader_free_text(
		reader, object, key, (struct json_reader_text){ ret_text, JOB_TIME_MAX });
	if (*ret_text && job_time_parse(ret_text, ret_ns) < 0)
		json_reader_fail(reader, key, "is not a time like 2026-11-21T22:45:01.123Z");
}

static void parse_origin(
	struct json_reader *reader, struct json_object *object, struct job_record *ret)
{
	struct record *record = &ret->record;

	json_reader_text(reader, object, "job", JSON_READER_TEXT(ret->id));
	if (!job_id_is_valid(ret->id))
		json_reader_fail(reader, "job", "is not the ID of a job");
	json_reader_free_text(reader, object, "run", JSON_READER_TEXT(ret->key));
	ret->uid = json_reader_number_or(reader, object, "uid", UINT32_MAX, -1);
	json_reader_free_text(reader, object, "host", JSON_READER_TEXT(ret->host));
	strcpy(record->host, ret->host);
	parse_time(reader, object, "begin", ret->begin, &ret->begin_ns);
	parse_time(reader, object, "end", ret->end, &ret->end_ns);
	ret->seconds = json_reader_real(reader, object, "seconds");
	json_reader_free_text(reader, object, "exit", JSON_READER_TEXT(ret->exit));
	record->rows = "job";
	snprintf(record->job, sizeof record->job, "%.63s", ret->id);
	snprintf(record->regions[0].name, RECORD_NAME_BYTES, "%.63s", ret->id);
	record->begun_ns = ret->begin_ns;
	record->ended_ns = ret->end_ns;
}

/* A record without figures has no platform to compare. */
static void parse_figures(
	struct json_reader *reader, struct json_object *object, struct job_record *ret)
{
	ret->complete = json_reader_flag(reader, object, "complete");
	if (ret->complete) {
		json_reader_free_text(
			reader, object, "platform", JSON_READER_TEXT(ret->record.platform));
		parse_sockets(reader, object, ret);
		return;
	}
	json_reader_free_text(reader, object, "why", JSON_READER_TEXT(ret->why));
	snprintf(ret->record.failure, sizeof ret->record.failure, "%s",
		*ret->why ? ret->why : "The record does not say why.");
}

/* Is it a record, and one that this release reads? */
static int check_schema(struct json_object *json, char ret_why[JSON_READER_WHY_MAX])
{
	if (!json_has(json, "record") || !json_has(json, "job")) {
		snprintf(ret_why, JSON_READER_WHY_MAX, "is not a record of a job");
		return -ENOMSG;
	}
	if (json_number(json, "record") == JOB_SCHEMA)
		return 0;
	snprintf(ret_why, JSON_READER_WHY_MAX,
		"is a record of another kind than %d, the one that this "
		"release reads",
		JOB_SCHEMA);
	return -EPROTONOSUPPORT;
}

int job_record_parse(
	struct json_object *json, struct job_record *ret, char ret_why[JSON_READER_WHY_MAX])
{
	_cleanup_(job_record_done) struct job_record record = { .json = NULL };
	struct json_reader reader = { .where = "" };
	int r = check_schema(json, ret_why);

	if (r < 0)
		return r;
	record.record.regions = calloc(1, sizeof *record.record.regions);
	if (!record.record.regions) {
		snprintf(ret_why, JSON_READER_WHY_MAX, "is too long for the memory");
		return -ENOMEM;
	}
	record.record.n_regions = 1;
	record.json = json_object_get(json);
	parse_origin(&reader, json, &record);
	parse_figures(&reader, json, &record);
	if (json_reader_failed(&reader)) {
		snprintf(ret_why, JSON_READER_WHY_MAX, "is not a record that can be read: %s",
			reader.why);
		return -EBADMSG;
	}
	*ret = record;
	record = (struct job_record){ .json = NULL };
	return 0;
}
