/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/records/job-record.h"
#include "client/records/parse-region.h"
#include "common/macro.h"

/* Upper limits for untrusted input. */
enum {
	REGIONS_MOST = 4096,
	MEMBERS_MOST = 65536,
};

/* --- parts --- */

static void parse_record_metrics(const struct json_reader *reader, struct record *record)
{
	const struct json_reader metrics = json_reader_object(reader, "metrics");
	const struct json_value *key = NULL;
	const char *name;

	while ((name = json_reader_next_key(&metrics, &key))) {
		char *room = parse_metric(&metrics, name, record);

		if (room)
			json_reader_text(
				&metrics, name, (struct json_reader_text){ room, UNCORE_NAME_MAX });
	}
}

static void parse_members(const struct json_reader *reader, struct record *record)
{
	const struct json_reader list = json_reader_list(reader, "members", MEMBERS_MOST);

	record->members = json_reader_room(&list, sizeof *record->members);
	JSON_READER_EACH (&list, element) {
		struct record_member *member = &record->members[record->n_members++];

		member->rank = json_reader_number_or(&element, "rank", INT32_MAX, -1);
		member->pid = (int32_t)json_reader_number(&element, "pid", INT32_MAX);
		member->died = json_reader_flag(&element, "died");
		json_reader_free_text(&element, "cpus", JSON_READER_TEXT(member->cpus));
	}
}

/* The cost may be missing: not every writer of records knows it. */
static void parse_cost(const struct json_reader *reader, struct record_cost *ret)
{
	struct json_reader cost;

	if (!json_reader_has(reader, "cost"))
		return;
	cost = json_reader_object(reader, "cost");
	ret->n_reading = json_reader_number(&cost, "reading_calls", PARSE_COUNT_MOST);
	ret->reading_ns = json_reader_number(&cost, "reading_ns", PARSE_COUNT_MOST);
	ret->n_timed = json_reader_number(&cost, "timed_calls", PARSE_COUNT_MOST);
	ret->timed_ns = json_reader_number(&cost, "timed_ns", PARSE_COUNT_MOST);
	if (!json_reader_has(&cost, "misses_calls"))
		return;
	ret->n_misses = json_reader_number(&cost, "misses_calls", PARSE_COUNT_MOST);
	ret->misses_ns = json_reader_number(&cost, "misses_ns", PARSE_COUNT_MOST);
}

static bool is_named_twice(const struct record *record, const char *name)
{
	for (uint32_t i = 0; i + 1 < record->n_regions; i++)
		if (strcmp(record->regions[i].name, name) == 0)
			return true;
	return false;
}

static void parse_regions(const struct json_reader *reader, struct record *record)
{
	const struct json_reader list = json_reader_list(reader, "regions", REGIONS_MOST);

	record->regions = json_reader_room(&list, sizeof *record->regions);
	JSON_READER_EACH (&list, element) {
		struct record_region *region = &record->regions[record->n_regions++];

		parse_region(&element, record, region);
		if (is_named_twice(record, region->name))
			json_reader_fail(&element, "name", "is the name of another region, too");
	}
}

static void parse_outside(const struct json_reader *reader, struct record *record)
{
	record->outside = calloc(1, sizeof *record->outside);
	if (record->outside)
		parse_region_sockets(reader, "outside", record, record->outside);
	else
		json_reader_fail(reader, "outside", "is too long for the memory");
}

static void parse_process(const struct json_reader *reader, struct record *ret)
{
	json_reader_free_text(reader, "host", JSON_READER_TEXT(ret->host));
	json_reader_free_text(reader, "team", JSON_READER_TEXT(ret->team));
	json_reader_free_text(reader, "step", JSON_READER_TEXT(ret->step));
	json_reader_free_text(reader, "job", JSON_READER_TEXT(ret->job));
	if (json_reader_has(reader, "label"))
		json_reader_free_text(reader, "label", JSON_READER_TEXT(ret->label));
	json_reader_free_text(reader, "command", JSON_READER_TEXT(ret->command));
	json_reader_free_text(reader, "version", JSON_READER_TEXT(ret->version));
	json_reader_free_text(reader, "platform", JSON_READER_TEXT(ret->platform));
	ret->failure = parse_sentences(reader, "failure", RECORD_FAILURE_BYTES);
	ret->warning = parse_sentences(reader, "warning", RECORD_WARNING_BYTES);
	ret->begun_ns = json_reader_number_or(reader, "begun_ns", INT64_MAX, 0);
	ret->ended_ns = json_reader_number_or(reader, "ended_ns", INT64_MAX, 0);
	ret->run = (uint32_t)json_reader_number(reader, "run", UINT32_MAX);
	ret->n_expected = (uint32_t)json_reader_number_or(reader, "expected", UINT32_MAX, 0);
}

/* --- the whole --- */

static void parse_of_regions(const struct json_reader *reader, struct record *ret)
{
	parse_generation(reader, ret->generation);
	parse_process(reader, ret);
	if (json_reader_has(reader, "uid"))
		parse_batch(reader, ret);
	parse_record_metrics(reader, ret);
	parse_members(reader, ret);
	parse_cost(reader, &ret->cost);
	parse_regions(reader, ret);
	parse_outside(reader, ret);
}

/* Is it a record that this release can read, of a job or of regions? */
static int parse_check_schema(
	const struct json_reader *reader, bool is_job, char ret_why[JSON_READER_WHY_MAX])
{
	struct json_failure failure = { .why = "" };
	const struct json_reader probe = { .failure = &failure, .value = reader->value };

	if (!is_job &&
		(!json_reader_has(reader, "regions") || !json_reader_has(reader, "schema"))) {
		snprintf(ret_why, JSON_READER_WHY_MAX,
			json_reader_kind(reader, "regions") > JSON_NULL
				? "is a report of a release before 0.2, which has no schema"
				: "is not a record of regions");
		return -ENOMSG;
	}
	if (json_reader_number(&probe, is_job ? "record" : "schema", INT64_MAX) ==
		(is_job ? JOB_SCHEMA : RECORD_SCHEMA))
		return 0;
	snprintf(ret_why, JSON_READER_WHY_MAX,
		is_job ? "is a record of another kind than %d, the one that this release reads"
		       : "has another schema than %d, the one that this release reads",
		is_job ? JOB_SCHEMA : RECORD_SCHEMA);
	return -EPROTONOSUPPORT;
}

int record_parse_object(const struct json_value *object, struct record *ret_record,
	char ret_why[JSON_READER_WHY_MAX])
{
	_cleanup_(record_done) struct record record = { .host = "" };
	struct json_failure failure = { .why = "" };
	const struct json_reader reader = { .failure = &failure, .value = object };
	const bool is_job = json_has(object, "record") && json_has(object, "job");
	int r = parse_check_schema(&reader, is_job, ret_why);

	if (r < 0)
		return r;
	(is_job ? job_record_parse : parse_of_regions)(&reader, &record);
	if (json_reader_failed(&reader)) {
		snprintf(ret_why, JSON_READER_WHY_MAX, "is not a record that can be read: %s",
			failure.why);
		return -EBADMSG;
	}
	*ret_record = record;
	record = (struct record){ .host = "" };
	return 0;
}

/* --- the text --- */

int record_parse_json(char *text, struct json_text *ret, char ret_why[JSON_READER_WHY_MAX])
{
	const int r = json_text_parse(text, ret);

	if (r < 0)
		snprintf(ret_why, JSON_READER_WHY_MAX,
			r == -ENOMEM ? "is too long for the memory" : "is not JSON, or was cut");
	return r;
}

int record_parse(char *text, struct record *ret_record, char ret_why[JSON_READER_WHY_MAX])
{
	_cleanup_(json_text_done) struct json_text json;
	int r = record_parse_json(text, &json, ret_why);

	return r < 0 ? r : record_parse_object(json.values, ret_record, ret_why);
}
