/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/parse-region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

enum { QUALITY_BITS = 30 };

/* --- values --- */

/* The flag whose word this is. A word that this release does not know is the flag that it would
 * call so. */
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

static uint32_t parse_quality(struct members *members, struct json_object *object)
{
	uint32_t quality = 0;
	size_t n;
	struct json_object *list = members_list(members, object, "quality", QUALITY_BITS, &n);

	for (size_t i = 0; i < n; i++) {
		struct json_object *word = json_object_array_get_idx(list, i);

		if (json_object_is_type(word, json_type_string))
			quality |= flag_of(json_object_get_string(word));
		else
			members_fail(members, "quality", "holds something else than words");
	}
	return quality;
}

static bool has(struct json_object *object, const char *key)
{
	return json_object_is_type(object, json_type_object) &&
	       json_object_object_get_ex(object, key, NULL);
}

static void parse_value(
	struct members *members, struct json_object *value, bool bytes, struct record_value *ret)
{
	if (has(value, "absent")) {
		ret->quality = UNCORE_ABSENT;
		ret->why = members_copy_free_text(members, value, "absent");
		return;
	}
	ret->count = members_number(members, value, bytes ? "bytes" : "value", PARSE_COUNT_MOST);
	ret->quality = parse_quality(members, value);
}

void parse_values(struct members *members, struct json_object *socket, const struct record *record,
	struct record_socket *ret)
{
	struct json_object *metrics = members_object(members, socket, "metrics");
	size_t entered = members_enter(members, "metrics");

	for (uint32_t i = 0; i < record->n_metrics && !members_failed(members); i++) {
		struct json_object *value = members_object(members, metrics, record->metrics[i]);
		size_t within = members_enter(members, record->metrics[i]);

		parse_value(
			members, value, strcmp(record->units[i], "bytes") == 0, &ret->values[i]);
		members_leave(members, within);
	}
	members_leave(members, entered);
}

/* --- estimates --- */

static void parse_estimate(
	struct members *members, struct json_object *object, struct record_estimate *ret)
{
	if (has(object, "absent")) {
		ret->why = members_copy_free_text(members, object, "absent");
		return;
	}
	ret->is_known = true;
	ret->count = members_real(members, object, "count");
	ret->error = members_real(members, object, "error");
	ret->is_bound = members_flag(members, object, "bound");
	if (has(object, "note"))
		ret->why = members_copy_free_text(members, object, "note");
	if (isnan(ret->count))
		members_fail(members, "count", "is no number of 0 or more");
}

/* Either each socket of the region has estimates, or none has. */
static void parse_estimates(struct members *members, struct json_object *socket,
	const struct record *record, struct record_estimate *ret)
{
	struct json_object *estimates = members_object(members, socket, "estimates");
	size_t entered = members_enter(members, "estimates");

	for (uint32_t i = 0; i < record->n_metrics && !members_failed(members); i++) {
		struct json_object *estimate =
			members_object(members, estimates, record->metrics[i]);
		size_t within = members_enter(members, record->metrics[i]);

		parse_estimate(members, estimate, &ret[i]);
		members_leave(members, within);
	}
	members_leave(members, entered);
}

/* --- sockets --- */

static void parse_sampling(struct members *members, struct json_object *socket,
	const struct record *record, struct record_socket *ret)
{
	struct json_object *sampling = members_object(members, socket, "sampling");
	size_t entered = members_enter(members, "sampling");

	for (uint32_t i = 0; i < record->n_metrics && !members_failed(members); i++)
		ret->values[i].sampling = members_real(members, sampling, record->metrics[i]);
	members_leave(members, entered);
}

static void parse_socket(struct members *members, struct json_object *object,
	const struct record *record, struct record_socket *ret)
{
	ret->socket = (uint32_t)members_number(members, object, "socket", PARSE_SOCKETS_MOST);
	ret->package = members_number_or(members, object, "package", UINT32_MAX, -1);
	ret->window_ns = members_number(members, object, "window_ns", PARSE_COUNT_MOST);
	ret->skew_ns = members_number(members, object, "skew_ns", PARSE_COUNT_MOST);
	ret->quantum_bytes = members_number(members, object, "quantum_bytes", PARSE_COUNT_MOST);
	parse_values(members, object, record, ret);
	if (has(object, "sampling"))
		parse_sampling(members, object, record, ret);
}

static void parse_sockets(struct members *members, struct json_object *object,
	const struct record *record, struct record_region *ret)
{
	size_t n;
	struct json_object *list = members_list(members, object, "sockets", PARSE_SOCKETS_MOST, &n);

	if (!n)
		return;
	ret->sockets = calloc(n, sizeof *ret->sockets);
	if (has(json_object_array_get_idx(list, 0), "estimates"))
		ret->estimates = calloc(n * (record->n_metrics + 1U), sizeof *ret->estimates);
	if (!ret->sockets) {
		members_fail(members, "sockets", "is too long for the memory");
		return;
	}
	for (size_t i = 0; i < n && !members_failed(members); i++) {
		struct json_object *socket = json_object_array_get_idx(list, i);
		size_t entered = members_enter_element(members, "sockets", i);

		ret->n_sockets++;
		parse_socket(members, socket, record, &ret->sockets[i]);
		if (i && ret->sockets[i].socket <= ret->sockets[i - 1].socket)
			members_fail(members, "socket", "is not above the one before");
		if (ret->estimates)
			parse_estimates(
				members, socket, record, &ret->estimates[i * record->n_metrics]);
		members_leave(members, entered);
	}
}

/* --- work --- */

static void parse_work(struct members *members, struct json_object *object,
	struct record_work ret[RECORD_UNITS_MAX])
{
	struct json_object *work = members_object(members, object, "work");
	size_t entered = members_enter(members, "work"), n = 0;

	if (work && json_object_object_length(work) > RECORD_UNITS_MAX)
		members_fail(members, NULL, "has too many units");
	if (members_failed(members))
		return;
	json_object_object_foreach(work, unit, amount)
	{
		(void)amount;
		if (!*unit || strlen(unit) >= RECORD_UNIT_BYTES || !text_is_plain(unit)) {
			members_fail(members, NULL, "has a unit that no work has");
			return;
		}
		strcpy(ret[n].unit, unit);
		ret[n].amount = members_real(members, work, unit);
		if (isnan(ret[n++].amount))
			members_fail(members, unit, "is no number of 0 or more");
	}
	members_leave(members, entered);
}

/* --- the region --- */

void parse_region(struct members *members, struct json_object *object, const struct record *record,
	struct record_region *ret)
{
	members_text(members, object, "name", MEMBERS_TEXT(ret->name));
	if (!*ret->name)
		members_fail(members, "name", "is empty");
	ret->n_passages = members_number(members, object, "count", PARSE_COUNT_MOST);
	ret->n_failed = members_number(members, object, "failed", ret->n_passages);
	ret->n_open = members_number(members, object, "open", PARSE_COUNT_MOST);
	ret->n_died = members_number(members, object, "died", PARSE_COUNT_MOST);
	ret->n_ranks = members_number(members, object, "ranks", PARSE_COUNT_MOST);
	ret->time_ns = members_number(members, object, "time_ns", PARSE_COUNT_MOST);
	ret->lost_ns = members_number(members, object, "lost_ns", PARSE_COUNT_MOST);
	ret->shared_ns = members_number(members, object, "shared_ns", PARSE_COUNT_MOST);
	if (has(object, "stretches")) {
		ret->n_stretches = members_number(members, object, "stretches", PARSE_COUNT_MOST);
		ret->n_measured = members_number(members, object, "measured", ret->n_stretches);
	}
	parse_work(members, object, ret->work);
	parse_sockets(members, object, record, ret);
}
