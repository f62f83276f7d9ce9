/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/records/parse-region.h"
#include "client/report/format.h"
#include "common/macro.h"
#include "common/number.h"
#include "common/text.h"

/* Upper limits for untrusted input. */
enum {
	REGIONS_MOST = 4096,
	MEMBERS_MOST = 65536,
	DEPTH_MOST = 32,
};

/* 1e18 ns are 31 years. Sums of many stay in range. */
static const uint64_t COST_MOST = 1000000000000000000U;

static const int64_t SECONDS_MOST = 9223372035; /* in the year 2262: in ns they fit into 63 bits */

/* --- parts --- */

static void parse_generation(
	struct json_reader *reader, struct json_object *object, uint64_t ret_generation[2])
{
	char digits[FORMAT_GENERATION_MAX], half[17] = "";

	json_reader_free_text(reader, object, "generation", JSON_READER_TEXT(digits));
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

static void parse_metrics(
	struct json_reader *reader, struct json_object *object, struct record *record)
{
	struct json_object *metrics = json_reader_object(reader, object, "metrics");
	size_t entered = json_reader_enter(reader, "metrics");

	if (metrics && json_object_object_length(metrics) > UNCORE_METRICS_MAX)
		json_reader_fail(reader, NULL, "has too many metrics");
	if (json_reader_failed(reader))
		return;
	json_object_object_foreach(metrics, name, unit)
	{
		uint32_t i = record->n_metrics++;

		(void)unit;
		if (strlen(name) >= UNCORE_NAME_MAX || !*name || !text_is_plain(name)) {
			json_reader_fail(reader, NULL, "has a name that no metric has");
			return;
		}
		strcpy(record->metrics[i], name);
		json_reader_text(reader, metrics, name, JSON_READER_TEXT(record->units[i]));
	}
	json_reader_leave(reader, entered);
}

static void parse_members(
	struct json_reader *reader, struct json_object *object, struct record *record)
{
	size_t n;
	struct json_object *list = json_reader_list(reader, object, "members", MEMBERS_MOST, &n);

	record->members = calloc(n ? n : 1, sizeof *record->members);
	if (!record->members) {
		json_reader_fail(reader, "members", "is too long for the memory");
		return;
	}
	for (size_t i = 0; i < n && !json_reader_failed(reader); i++) {
		struct json_object *element = json_object_array_get_idx(list, i);
		struct record_member *member = &record->members[i];
		size_t entered = json_reader_enter_element(reader, "members", i);

		member->rank = json_reader_number_or(reader, element, "rank", INT32_MAX, -1);
		member->pid = (int32_t)json_reader_number(reader, element, "pid", INT32_MAX);
		member->died = json_reader_flag(reader, element, "died");
		json_reader_free_text(reader, element, "cpus", JSON_READER_TEXT(member->cpus));
		json_reader_leave(reader, entered);
		record->n_members++;
	}
}

/* The cost may be missing: not every writer of records knows it. */
static void parse_cost(
	struct json_reader *reader, struct json_object *object, struct record *record)
{
	struct json_object *cost;
	size_t entered;

	if (!json_object_object_get_ex(object, "cost", &cost))
		return;
	cost = json_reader_object(reader, object, "cost");
	entered = json_reader_enter(reader, "cost");
	record->cost.n_reading = json_reader_number(reader, cost, "reading_calls", COST_MOST);
	record->cost.reading_ns = json_reader_number(reader, cost, "reading_ns", COST_MOST);
	record->cost.n_timed = json_reader_number(reader, cost, "timed_calls", COST_MOST);
	record->cost.timed_ns = json_reader_number(reader, cost, "timed_ns", COST_MOST);
	json_reader_leave(reader, entered);
}

static bool is_named_twice(const struct record *record, const char *name)
{
	for (uint32_t i = 0; i + 1 < record->n_regions; i++)
		if (strcmp(record->regions[i].name, name) == 0)
			return true;
	return false;
}

static void parse_regions(
	struct json_reader *reader, struct json_object *object, struct record *record)
{
	size_t n;
	struct json_object *list = json_reader_list(reader, object, "regions", REGIONS_MOST, &n);

	record->regions = calloc(n ? n : 1, sizeof *record->regions);
	if (!record->regions) {
		json_reader_fail(reader, "regions", "is too long for the memory");
		return;
	}
	for (size_t i = 0; i < n && !json_reader_failed(reader); i++) {
		struct record_region *region = &record->regions[record->n_regions++];
		size_t entered = json_reader_enter_element(reader, "regions", i);

		parse_region(reader, json_object_array_get_idx(list, i), record, region);
		if (is_named_twice(record, region->name))
			json_reader_fail(reader, "name", "is the name of another region, too");
		json_reader_leave(reader, entered);
	}
}

/* Reads a time; 0: not known. Older releases wrote only seconds. */
static int64_t parse_time(struct json_reader *reader, struct json_object *object, const char *key_s,
	const char *key_ns)
{
	const int64_t seconds = json_reader_number_or(reader, object, key_s, SECONDS_MOST, 0);

	return json_reader_number_or(
		reader, object, key_ns, SECONDS_MOST * 1000000000, seconds * 1000000000);
}

static void parse_process(
	struct json_reader *reader, struct json_object *object, struct record *ret)
{
	json_reader_free_text(reader, object, "host", JSON_READER_TEXT(ret->host));
	json_reader_free_text(reader, object, "team", JSON_READER_TEXT(ret->team));
	json_reader_free_text(reader, object, "step", JSON_READER_TEXT(ret->step));
	json_reader_free_text(reader, object, "job", JSON_READER_TEXT(ret->job));
	json_reader_free_text(reader, object, "command", JSON_READER_TEXT(ret->command));
	json_reader_free_text(reader, object, "version", JSON_READER_TEXT(ret->version));
	json_reader_free_text(reader, object, "platform", JSON_READER_TEXT(ret->platform));
	json_reader_free_text(reader, object, "failure", JSON_READER_TEXT(ret->failure));
	json_reader_free_text(reader, object, "warning", JSON_READER_TEXT(ret->warning));
	ret->begun_ns = parse_time(reader, object, "begun_s", "begun_ns");
	ret->ended_ns = parse_time(reader, object, "ended_s", "ended_ns");
	ret->run = (uint32_t)json_reader_number(reader, object, "run", UINT32_MAX);
	ret->n_expected =
		(uint32_t)json_reader_number_or(reader, object, "expected", UINT32_MAX, 0);
}

/* --- the whole --- */

/* Is it a record that this release can read? */
static int check_schema(struct json_object *object, char ret_why[JSON_READER_WHY_MAX])
{
	struct json_object *schema = NULL, *regions = NULL;

	if (!json_object_is_type(object, json_type_object) ||
		!json_object_object_get_ex(object, "regions", &regions) ||
		!json_object_object_get_ex(object, "schema", &schema)) {
		snprintf(ret_why, JSON_READER_WHY_MAX,
			regions ? "is a report of a release before 0.2, which has no schema"
				: "is not a record of regions");
		return -ENOMSG;
	}
	if (json_object_is_type(schema, json_type_int) &&
		json_object_get_int64(schema) == RECORD_SCHEMA)
		return 0;
	snprintf(ret_why, JSON_READER_WHY_MAX,
		"has another schema than %d, the one that this release reads", RECORD_SCHEMA);
	return -EPROTONOSUPPORT;
}

static int parse_object(
	struct json_object *object, struct record *ret_record, char ret_why[JSON_READER_WHY_MAX])
{
	_cleanup_(record_done) struct record record = { .host = "" };
	struct json_reader reader = { .where = "" };
	int r = check_schema(object, ret_why);

	if (r < 0)
		return r;
	parse_generation(&reader, object, record.generation);
	parse_process(&reader, object, &record);
	parse_metrics(&reader, object, &record);
	parse_members(&reader, object, &record);
	parse_cost(&reader, object, &record);
	parse_regions(&reader, object, &record);
	if (json_reader_failed(&reader)) {
		snprintf(ret_why, JSON_READER_WHY_MAX, "is not a record that can be read: %s",
			reader.why);
		return -EBADMSG;
	}
	*ret_record = record;
	record = (struct record){ .host = "" };
	return 0;
}

static int add_object(
	struct json_object *object, struct record_list *list, char ret_why[JSON_READER_WHY_MAX])
{
	_cleanup_(record_done) struct record record = { .host = "" };
	int r = parse_object(object, &record, ret_why);

	if (r < 0)
		return r;
	r = record_list_add(list, &record);
	if (r < 0)
		snprintf(ret_why, JSON_READER_WHY_MAX, "has no room: %s", strerror(-r));
	return r;
}

/* Other JSON may be in files beside records, but not in a list of records. */
static int add_element(struct json_object *array, size_t i, struct record_list *list,
	char ret_why[JSON_READER_WHY_MAX])
{
	char why[JSON_READER_WHY_MAX];
	int r = add_object(json_object_array_get_idx(array, i), list, why);

	if (r < 0)
		snprintf(ret_why, JSON_READER_WHY_MAX, "is an array whose element %zu %.*s", i,
			JSON_READER_WHY_MAX - 64, why);
	return r == -ENOMSG && i ? -EBADMSG : r;
}

static int add_array(
	struct json_object *array, struct record_list *list, char ret_why[JSON_READER_WHY_MAX])
{
	const size_t n = json_object_array_length(array);
	const uint32_t n_before = list->n;
	int r = 0;

	if (!n) {
		snprintf(ret_why, JSON_READER_WHY_MAX, "is an array without records");
		return -ENOMSG;
	}
	for (size_t i = 0; i < n && r == 0; i++)
		r = add_element(array, i, list, ret_why);
	if (r < 0)
		record_list_cut(list, n_before);
	return r;
}

/* --- the text --- */

/* Only blanks may follow the object. */
static struct json_object *parse_all(struct json_tokener *tokener, const char *text)
{
	size_t size_bytes = strlen(text), end;
	struct json_object *object;

	if (size_bytes >= INT32_MAX)
		return NULL;
	object = json_tokener_parse_ex(tokener, text, (int)size_bytes);
	end = json_tokener_get_parse_end(tokener);
	if (object && text[end + strspn(text + end, " \t\r\n")]) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

int record_parse_json(const char *text, struct json_object **ret, char ret_why[JSON_READER_WHY_MAX])
{
	struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MOST);

	if (!tokener) {
		snprintf(ret_why, JSON_READER_WHY_MAX, "is too long for the memory");
		return -ENOMEM;
	}
	*ret = parse_all(tokener, text);
	json_tokener_free(tokener);
	if (*ret)
		return 0;
	snprintf(ret_why, JSON_READER_WHY_MAX, "is not JSON, or was cut");
	return -EBADMSG;
}

int record_parse(const char *text, struct record *ret_record, char ret_why[JSON_READER_WHY_MAX])
{
	struct json_object *object = NULL;
	int r = record_parse_json(text, &object, ret_why);

	if (r == 0)
		r = parse_object(object, ret_record, ret_why);
	json_object_put(object);
	return r;
}

int record_list_parse(const char *text, struct record_list *list, char ret_why[JSON_READER_WHY_MAX])
{
	struct json_object *object = NULL;
	int r = record_parse_json(text, &object, ret_why);

	if (r == 0)
		r = json_object_is_type(object, json_type_array)
			    ? add_array(object, list, ret_why)
			    : add_object(object, list, ret_why);
	json_object_put(object);
	return r;
}
