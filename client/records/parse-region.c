/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/parse-region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

enum { QUALITY_BITS = 30 };

/* --- values --- */

/* The flag with this word. A word of a later release becomes the lowest flag that this release
 * calls "unknown". */
static uint32_t flag_of(const char *word)
{
	char known[32];

	for (int i = 0; i < QUALITY_BITS; i++) {
		uncore_quality_words(1U << i, known, sizeof known);
		if (strcmp(known, word) == 0)
			return 1U << i;
	}
	return strcmp(word, "unknown") == 0 ? 0 : flag_of("unknown");
}

static uint32_t parse_quality(struct json_reader *reader, struct json_object *object)
{
	uint32_t quality = 0;
	size_t n;
	struct json_object *list = json_reader_list(reader, object, "quality", QUALITY_BITS, &n);

	for (size_t i = 0; i < n; i++) {
		struct json_object *word = json_object_array_get_idx(list, i);

		if (json_object_is_type(word, json_type_string))
			quality |= flag_of(json_object_get_string(word));
		else
			json_reader_fail(reader, "quality", "holds something else than words");
	}
	return quality;
}

static bool has(struct json_object *object, const char *key)
{
	return json_object_is_type(object, json_type_object) &&
	       json_object_object_get_ex(object, key, NULL);
}

static void parse_value(
	struct json_reader *reader, struct json_object *value, bool bytes, struct record_value *ret)
{
	if (has(value, "absent")) {
		ret->quality = UNCORE_ABSENT;
		ret->why = json_reader_copy_free_text(reader, value, "absent");
		return;
	}
	ret->count = json_reader_number(reader, value, bytes ? "bytes" : "value", PARSE_COUNT_MOST);
	ret->quality = parse_quality(reader, value);
}

void parse_values(struct json_reader *reader, struct json_object *socket,
	const struct record *record, struct record_socket *ret)
{
	struct json_object *metrics = json_reader_object(reader, socket, "metrics");
	size_t entered = json_reader_enter(reader, "metrics");

	for (uint32_t i = 0; i < record->n_metrics && !json_reader_failed(reader); i++) {
		struct json_object *value = json_reader_object(reader, metrics, record->metrics[i]);
		size_t within = json_reader_enter(reader, record->metrics[i]);

		parse_value(reader, value, strcmp(record->units[i], "bytes") == 0, &ret->values[i]);
		json_reader_leave(reader, within);
	}
	json_reader_leave(reader, entered);
}

/* --- estimates --- */

static void parse_estimate(
	struct json_reader *reader, struct json_object *object, struct record_estimate *ret)
{
	if (has(object, "absent")) {
		ret->why = json_reader_copy_free_text(reader, object, "absent");
		return;
	}
	ret->is_known = true;
	ret->count = json_reader_real(reader, object, "count");
	ret->error = json_reader_real(reader, object, "error");
	ret->is_bound = json_reader_flag(reader, object, "bound");
	if (has(object, "note"))
		ret->why = json_reader_copy_free_text(reader, object, "note");
	if (isnan(ret->count))
		json_reader_fail(reader, "count", "is not a number of 0 or more");
}

/* Either all sockets of a region have estimates, or none. */
static void parse_estimates(struct json_reader *reader, struct json_object *socket,
	const struct record *record, struct record_estimate *ret)
{
	struct json_object *estimates = json_reader_object(reader, socket, "estimates");
	size_t entered = json_reader_enter(reader, "estimates");

	for (uint32_t i = 0; i < record->n_metrics && !json_reader_failed(reader); i++) {
		struct json_object *estimate =
			json_reader_object(reader, estimates, record->metrics[i]);
		size_t within = json_reader_enter(reader, record->metrics[i]);

		parse_estimate(reader, estimate, &ret[i]);
		json_reader_leave(reader, within);
	}
	json_reader_leave(reader, entered);
}

/* --- sockets --- */

static void parse_sampling(struct json_reader *reader, struct json_object *socket,
	const struct record *record, struct record_socket *ret)
{
	struct json_object *sampling = json_reader_object(reader, socket, "sampling");
	size_t entered = json_reader_enter(reader, "sampling");

	for (uint32_t i = 0; i < record->n_metrics && !json_reader_failed(reader); i++)
		ret->values[i].sampling = json_reader_real(reader, sampling, record->metrics[i]);
	json_reader_leave(reader, entered);
}

static void parse_socket(struct json_reader *reader, struct json_object *object,
	const struct record *record, struct record_socket *ret)
{
	ret->socket = (uint32_t)json_reader_number(reader, object, "socket", PARSE_SOCKETS_MOST);
	ret->package = json_reader_number_or(reader, object, "package", UINT32_MAX, -1);
	ret->window_ns = json_reader_number(reader, object, "window_ns", PARSE_COUNT_MOST);
	ret->skew_ns = json_reader_number(reader, object, "skew_ns", PARSE_COUNT_MOST);
	ret->quantum_bytes = json_reader_number(reader, object, "quantum_bytes", PARSE_COUNT_MOST);
	parse_values(reader, object, record, ret);
	if (has(object, "sampling"))
		parse_sampling(reader, object, record, ret);
}

static void parse_sockets(struct json_reader *reader, struct json_object *object,
	const struct record *record, struct record_region *ret)
{
	size_t n;
	struct json_object *list =
		json_reader_list(reader, object, "sockets", PARSE_SOCKETS_MOST, &n);

	if (!n)
		return;
	ret->sockets = calloc(n, sizeof *ret->sockets);
	if (has(json_object_array_get_idx(list, 0), "estimates"))
		ret->estimates = calloc(n * (record->n_metrics + 1U), sizeof *ret->estimates);
	if (!ret->sockets) {
		json_reader_fail(reader, "sockets", "is too long for the memory");
		return;
	}
	for (size_t i = 0; i < n && !json_reader_failed(reader); i++) {
		struct json_object *socket = json_object_array_get_idx(list, i);
		size_t entered = json_reader_enter_element(reader, "sockets", i);

		ret->n_sockets++;
		parse_socket(reader, socket, record, &ret->sockets[i]);
		if (i && ret->sockets[i].socket <= ret->sockets[i - 1].socket)
			json_reader_fail(reader, "socket", "is not above the one before");
		if (ret->estimates)
			parse_estimates(
				reader, socket, record, &ret->estimates[i * record->n_metrics]);
		json_reader_leave(reader, entered);
	}
}

/* --- work --- */

static void parse_work(struct json_reader *reader, struct json_object *object,
	struct record_work ret[RECORD_UNITS_MAX])
{
	struct json_object *work = json_reader_object(reader, object, "work");
	size_t entered = json_reader_enter(reader, "work"), n = 0;

	if (work && json_object_object_length(work) > RECORD_UNITS_MAX)
		json_reader_fail(reader, NULL, "has too many units");
	if (json_reader_failed(reader))
		return;
	json_object_object_foreach(work, unit, amount)
	{
		(void)amount;
		if (!*unit || strlen(unit) >= RECORD_UNIT_BYTES || !text_is_plain(unit)) {
			json_reader_fail(reader, NULL, "has a unit that no work has");
			return;
		}
		strcpy(ret[n].unit, unit);
		ret[n].amount = json_reader_real(reader, work, unit);
		if (isnan(ret[n++].amount))
			json_reader_fail(reader, unit, "is not a number of 0 or more");
	}
	json_reader_leave(reader, entered);
}

/* --- the region --- */

void parse_region(struct json_reader *reader, struct json_object *object,
	const struct record *record, struct record_region *ret)
{
	json_reader_text(reader, object, "name", JSON_READER_TEXT(ret->name));
	if (!*ret->name)
		json_reader_fail(reader, "name", "is empty");
	ret->n_passages = json_reader_number(reader, object, "count", PARSE_COUNT_MOST);
	ret->n_failed = json_reader_number(reader, object, "failed", ret->n_passages);
	ret->n_open = json_reader_number(reader, object, "open", PARSE_COUNT_MOST);
	ret->n_died = json_reader_number(reader, object, "died", PARSE_COUNT_MOST);
	ret->n_ranks = json_reader_number(reader, object, "ranks", PARSE_COUNT_MOST);
	ret->time_ns = json_reader_number(reader, object, "time_ns", PARSE_COUNT_MOST);
	ret->lost_ns = json_reader_number(reader, object, "lost_ns", PARSE_COUNT_MOST);
	ret->shared_ns = json_reader_number(reader, object, "shared_ns", PARSE_COUNT_MOST);
	if (has(object, "stretches")) {
		ret->n_stretches =
			json_reader_number(reader, object, "stretches", PARSE_COUNT_MOST);
		ret->n_measured = json_reader_number(reader, object, "measured", ret->n_stretches);
	}
	parse_work(reader, object, ret->work);
	parse_sockets(reader, object, record, ret);
}
