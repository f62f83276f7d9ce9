/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/jobstore/run.h"
#include "client/records/parse-region.h"
#include "client/report/format.h"
#include "common/macro.h"
#include "common/number.h"
#include "common/text.h"

/* Upper limits for untrusted input. */
enum {
	REGIONS_MOST = 4096,
	MEMBERS_MOST = 65536,
};
static const int64_t TIME_MOST_NS = 9000000000000000000; /* in the year 2255 */

/* --- texts --- */

static void parse_generation(const struct json_reader *reader, uint64_t ret_generation[2])
{
	char digits[FORMAT_GENERATION_MAX], half[17] = "";

	json_reader_free_text(reader, "generation", JSON_READER_TEXT(digits));
	if (!*digits)
		return;
	if (strlen(digits) == FORMAT_GENERATION_MAX - 1) {
		memcpy(half, digits, 16);
		if (number_parse_whole(half, 16, UINT64_MAX, &ret_generation[0]) &&
			number_parse_whole(digits + 16, 16, UINT64_MAX, &ret_generation[1]))
			return;
	}
	json_reader_fail(reader, "generation", "is not 32 hexadecimal digits");
}

/* Free text of less than @size_bytes, for free(3); NULL: there is none, or it failed. */
static char *parse_sentences(const struct json_reader *reader, const char *key, size_t size_bytes)
{
	_cleanup_free_ char *text = calloc(size_bytes, 1);

	if (text)
		json_reader_free_text(reader, key, (struct json_reader_text){ text, size_bytes });
	else
		json_reader_fail(reader, key, "is too long for the memory");
	return text && *text ? take_ptr(text) : NULL;
}

/* --- parts --- */

/* Adds a metric to the record. Returns the room for its unit; NULL: it failed. */
static char *parse_metric(
	const struct json_reader *metrics, const char *name, struct record *record)
{
	if (record->n_metrics == UNCORE_METRICS_MAX)
		json_reader_fail(metrics, NULL, "has too many metrics");
	else if (strlen(name) >= UNCORE_NAME_MAX || !*name || !text_is_plain(name))
		json_reader_fail(metrics, NULL, "has a name that no metric has");
	if (json_reader_failed(metrics))
		return NULL;
	strcpy(record->metrics[record->n_metrics], name);
	return record->units[record->n_metrics++];
}

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
	if (record->outside && !record->outside->sockets)
		free(take_ptr(record->outside));
}

static void parse_run(const struct json_reader *reader, struct record *ret)
{
	parse_generation(reader, ret->generation);
	json_reader_free_text(reader, "host", JSON_READER_TEXT(ret->host));
	json_reader_free_text(reader, "step", JSON_READER_TEXT(ret->step));
	json_reader_free_text(reader, "job", JSON_READER_TEXT(ret->job));
	json_reader_free_text(reader, "version", JSON_READER_TEXT(ret->version));
	json_reader_free_text(reader, "platform", JSON_READER_TEXT(ret->platform));
	ret->failure = parse_sentences(reader, "failure", RECORD_FAILURE_BYTES);
	ret->warning = parse_sentences(reader, "warning", RECORD_WARNING_BYTES);
	ret->begun_ns = json_reader_number_or(reader, "begun_ns", TIME_MOST_NS, 0);
	ret->ended_ns = json_reader_number_or(reader, "ended_ns", TIME_MOST_NS, 0);
}

static void parse_team(const struct json_reader *reader, struct record *ret)
{
	json_reader_free_text(reader, "team", JSON_READER_TEXT(ret->team));
	if (json_reader_has(reader, "label"))
		json_reader_free_text(reader, "label", JSON_READER_TEXT(ret->label));
	json_reader_free_text(reader, "command", JSON_READER_TEXT(ret->command));
	ret->run = (uint32_t)json_reader_number(reader, "run", UINT32_MAX);
	ret->n_expected = (uint32_t)json_reader_number_or(reader, "expected", UINT32_MAX, 0);
	parse_members(reader, ret);
	parse_cost(reader, &ret->cost);
}

/* --- jobs --- */

/* What a batch system says of a job makes it a record of one. */
static void parse_batch(const struct json_reader *reader, struct record *ret)
{
	struct record_batch *batch = &ret->batch;

	ret->rows = "job";
	batch->uid = json_reader_number_or(reader, "uid", UINT32_MAX, -1);
	batch->seconds = json_reader_real(reader, "seconds");
	json_reader_free_text(reader, "exit", JSON_READER_TEXT(batch->exit));
	batch->monotonic_ns = (uint64_t)json_reader_number_or(reader, "monotonic_ns", INT64_MAX, 0);
	if (!job_id_is_valid(ret->job))
		json_reader_fail(reader, "job", "is not the ID of a job");
	if (*ret->step && !job_key_is_valid(ret->step))
		json_reader_fail(reader, "step", "is not the key of a run");
}

/* A job has one region, with figures or a reason why it has none. */
static void parse_check_job(const struct json_reader *reader, struct record *ret)
{
	const struct record_region *region = ret->regions;

	if (ret->outside)
		ret->batch.n_unused = ret->outside->n_sockets;
	if (ret->n_regions != 1 || strncmp(region->name, ret->job, RECORD_NAME_BYTES - 1) != 0)
		json_reader_fail(reader, "regions", "are not one with the name of the job");
	else if (ret->failure && (region->n_sockets || *ret->platform))
		json_reader_fail(reader, "failure", "is there beside figures");
	else if (!ret->failure && !region->n_sockets && !ret->batch.n_unused)
		json_reader_fail(reader, "failure", "is missing, as figures are");
}

/* --- the whole --- */

static void parse_of_regions(const struct json_reader *reader, struct record *ret)
{
	parse_run(reader, ret);
	if (json_reader_has(reader, "uid"))
		parse_batch(reader, ret);
	else
		parse_team(reader, ret);
	parse_record_metrics(reader, ret);
	parse_regions(reader, ret);
	parse_outside(reader, ret);
	if (ret->rows && !json_reader_failed(reader))
		parse_check_job(reader, ret);
}

/* Is it a record that this release can read? */
static int parse_check_schema(const struct json_reader *reader, char ret_why[JSON_READER_WHY_MAX])
{
	struct json_failure failure = { .why = "" };
	const struct json_reader probe = { .failure = &failure, .value = reader->value };

	if (!json_reader_has(reader, "regions") || !json_reader_has(reader, "schema")) {
		snprintf(ret_why, JSON_READER_WHY_MAX,
			json_reader_kind(reader, "regions") > JSON_NULL
				? "is a report of a release before 0.2, which has no schema"
				: "is not a record of regions");
		return -ENOMSG;
	}
	if (json_reader_number(&probe, "schema", INT64_MAX) == RECORD_SCHEMA)
		return 0;
	snprintf(ret_why, JSON_READER_WHY_MAX,
		"has another schema than %d, the one that this release reads", RECORD_SCHEMA);
	return -EPROTONOSUPPORT;
}

int record_parse_object(const struct json_value *object, struct record *ret_record,
	char ret_why[JSON_READER_WHY_MAX])
{
	_cleanup_(record_done) struct record record = { .host = "" };
	struct json_failure failure = { .why = "" };
	const struct json_reader reader = { .failure = &failure, .value = object };
	int r = parse_check_schema(&reader, ret_why);

	if (r < 0)
		return r;
	parse_of_regions(&reader, &record);
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
