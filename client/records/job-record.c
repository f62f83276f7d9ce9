/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/job-record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/records/parse.h"
#include "common/macro.h"
#include "common/number.h"
#include "common/unit.h"

void job_record_drop_figures(struct job_record *record)
{
	if (record->record)
		record_done(record->record);
	free(take_ptr(record->record));
}

void job_record_done(struct job_record *record)
{
	job_record_drop_figures(record);
	free(record->text);
	*record = (struct job_record){ .text = NULL };
}

/* --- figures --- */

/* The first socket defines the metrics and their units. */
static void parse_metrics(const struct json_reader *socket, struct record *record)
{
	const struct json_reader metrics = json_reader_object(socket, "metrics");
	const struct json_value *key = NULL;
	const char *name;

	while ((name = json_reader_next_key(&metrics, &key))) {
		char *unit = parse_metric(&metrics, name, record);
		const struct json_reader metric = json_reader_object(&metrics, name);

		if (!unit)
			return;
		strcpy(unit, UNIT_BYTES);
		if (json_reader_has(&metric, "unit"))
			json_reader_text(&metric, "unit",
				(struct json_reader_text){ unit, UNCORE_NAME_MAX });
	}
}

static void parse_used(
	const struct json_reader *reader, uint64_t quantum_bytes, struct job_record *ret)
{
	struct record_region *region = &ret->record->regions[0];
	struct record_socket *socket = &region->sockets[region->n_sockets++];

	parse_socket(reader, ret->record, socket);
	socket->quantum_bytes = quantum_bytes > 1 ? quantum_bytes : 0;
	socket->n_others = json_reader_number_or(reader, "others", UINT32_MAX, -1);
}

static void parse_sockets(const struct json_reader *reader, struct job_record *ret)
{
	const uint64_t quantum = (uint64_t)json_reader_number_or(reader, "quantum", INT64_MAX, 0);
	const struct json_reader list = json_reader_list(reader, "sockets", PARSE_SOCKETS_MOST);

	ret->record->regions[0].sockets = json_reader_room(&list, sizeof(struct record_socket));
	JSON_READER_EACH (&list, socket) {
		if (socket.index == 0)
			parse_metrics(&socket, ret->record);
		if (json_reader_flag(&socket, "used"))
			parse_used(&socket, quantum, ret);
		else
			ret->n_unused++;
	}
}

/* --- the rest --- */

enum { SECOND_NS = 1000000000, MILLISECOND_NS = 1000000 };

static const int64_t SECONDS_MOST = 9000000000; /* in the year 2255; still fits in ns */

/* Reads the text of record_time_ms() back. -EINVAL: *@ret_real_ns is untouched. */
static int read_time(const char *text, int64_t *ret_real_ns)
{
	struct tm parts = { .tm_sec = 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S.", &parts);
	uint64_t milliseconds;
	int64_t seconds;

	if (!rest || strlen(rest) != strlen("123Z"))
		return -EINVAL;
	rest = number_parse(rest, 10, 999, &milliseconds);
	seconds = timegm(&parts);
	if (!rest || strcmp(rest, "Z") != 0 || seconds < 0 || seconds > SECONDS_MOST)
		return -EINVAL;
	*ret_real_ns = seconds * SECOND_NS + (int64_t)milliseconds * MILLISECOND_NS;
	return 0;
}

static void parse_time(const struct json_reader *reader, const char *key, int64_t *ret_ns)
{
	char text[RECORD_TIME_MAX];

	json_reader_free_text(reader, key, JSON_READER_TEXT(text));
	if (*text && read_time(text, ret_ns) < 0)
		json_reader_fail(reader, key, "is not a time like 2026-11-21T22:45:01.123Z");
}

static void parse_origin(const struct json_reader *reader, struct job_record *ret)
{
	struct record *record = ret->record;

	json_reader_text(reader, "job", JSON_READER_TEXT(ret->id));
	if (!job_id_is_valid(ret->id))
		json_reader_fail(reader, "job", "is not the ID of a job");
	json_reader_free_text(reader, "run", JSON_READER_TEXT(ret->key));
	ret->uid = json_reader_number_or(reader, "uid", UINT32_MAX, -1);
	json_reader_free_text(reader, "host", JSON_READER_TEXT(ret->host));
	strcpy(record->host, ret->host);
	parse_time(reader, "begin", &ret->begin_ns);
	parse_time(reader, "end", &ret->end_ns);
	ret->seconds = json_reader_real(reader, "seconds");
	json_reader_free_text(reader, "exit", JSON_READER_TEXT(ret->exit));
	record->rows = "job";
	snprintf(record->job, sizeof record->job, "%.63s", ret->id);
	strcpy(record->step, ret->key);
	snprintf(record->regions[0].name, RECORD_NAME_BYTES, "%.63s", ret->id);
	record->begun_ns = ret->begin_ns;
	record->ended_ns = ret->end_ns;
}

/* A record without figures has no platform to compare. */
static void parse_figures(const struct json_reader *reader, struct job_record *ret)
{
	ret->complete = json_reader_flag(reader, "complete");
	if (ret->complete) {
		json_reader_free_text(reader, "platform", JSON_READER_TEXT(ret->record->platform));
		if (json_reader_kind(reader, "generation") == JSON_TEXT)
			parse_generation(reader, ret->generation);
		memcpy(ret->record->generation, ret->generation, sizeof ret->generation);
		parse_sockets(reader, ret);
		return;
	}
	ret->record->failure = parse_sentences(reader, "why", RECORD_FAILURE_BYTES);
	if (!ret->record->failure)
		ret->record->failure = strdup("The record does not say why.");
}

bool job_record_is(const struct json_value *object)
{
	return json_has(object, "record") && json_has(object, "job");
}

/* Is it a record that this release reads? */
static int check_schema(const struct json_reader *reader, char ret_why[JSON_READER_WHY_MAX])
{
	if (!job_record_is(reader->value)) {
		snprintf(ret_why, JSON_READER_WHY_MAX, "is not a record of a job");
		return -ENOMSG;
	}
	if (json_reader_number(reader, "record", INT64_MAX) == JOB_SCHEMA)
		return 0;
	snprintf(ret_why, JSON_READER_WHY_MAX,
		"is a record of another kind than %d, the one that this "
		"release reads",
		JOB_SCHEMA);
	return -EPROTONOSUPPORT;
}

static int parse(
	const struct json_value *object, struct job_record *ret, char ret_why[JSON_READER_WHY_MAX])
{
	struct json_failure failure = { .why = "" };
	const struct json_reader reader = { .failure = &failure, .value = object };
	int r = check_schema(&reader, ret_why);

	if (r < 0)
		return r;
	ret->record = calloc(1, sizeof *ret->record);
	if (ret->record)
		ret->record->regions = calloc(1, sizeof *ret->record->regions);
	if (!ret->record || !ret->record->regions) {
		snprintf(ret_why, JSON_READER_WHY_MAX, "is too long for the memory");
		return -ENOMEM;
	}
	ret->record->n_regions = 1;
	parse_origin(&reader, ret);
	parse_figures(&reader, ret);
	if (!json_reader_failed(&reader))
		return 0;
	snprintf(ret_why, JSON_READER_WHY_MAX, "is not a record that can be read: %s", failure.why);
	return -EBADMSG;
}

int job_record_parse(char *text, struct job_record *ret, char ret_why[JSON_READER_WHY_MAX])
{
	_cleanup_(job_record_done) struct job_record record = { .text = strdup(text) };
	_cleanup_(json_text_done) struct json_text json;
	int r = record_parse_json(text, &json, ret_why);

	if (r == 0)
		r = record.text ? parse(json.values, &record, ret_why) : -ENOMEM;
	if (r < 0)
		return r;
	*ret = record;
	record = (struct job_record){ .text = NULL };
	return 0;
}

int job_record_parse_figures(
	const struct json_value *object, struct record *ret, char ret_why[JSON_READER_WHY_MAX])
{
	_cleanup_(job_record_done) struct job_record record = { .text = NULL };
	int r = parse(object, &record, ret_why);

	if (r < 0)
		return r;
	*ret = *record.record;
	*record.record = (struct record){ .regions = NULL };
	return 0;
}

int job_record_read_again(const struct job_record *record, struct job_record *ret)
{
	_cleanup_free_ char *text = strdup(record->text);
	char why[JSON_READER_WHY_MAX];

	return text ? job_record_parse(text, ret, why) : -ENOMEM;
}
