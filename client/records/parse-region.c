/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/parse-region.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/text.h"
#include "common/unit.h"

enum { QUALITY_BITS = 30, PARSE_SOCKETS_MOST = 1024 };

/* --- values --- */

/* The flag with this word. A word of a later release becomes the lowest flag that this release
 * calls "unknown". */
static uint32_t flag_of(const char *word)
{
	static char known[QUALITY_BITS][32]; /* filled once: each count has some */

	for (int i = 0; i < QUALITY_BITS; i++) {
		if (!*known[i])
			uncore_quality_words(1U << i, known[i], sizeof known[i]);
		if (*known[i] == *word && strcmp(known[i], word) == 0)
			return 1U << i;
	}
	return strcmp(word, "unknown") == 0 ? 0 : flag_of("unknown");
}

static uint32_t parse_quality(const struct json_reader *reader)
{
	const struct json_reader list = json_reader_list(reader, "quality", QUALITY_BITS);
	uint32_t quality = 0;

	JSON_READER_EACH (&list, word) {
		if (json_value_kind(word.value) == JSON_TEXT)
			quality |= flag_of(word.value->at);
		else
			json_reader_fail(&list, NULL, "holds something else than words");
	}
	return quality;
}

/* Of a region, not of a job. */
static void parse_share(const struct json_reader *reader, struct record_value *ret)
{
	ret->has_share = json_reader_has(reader, "share");
	if (!ret->has_share)
		return;
	ret->share = json_reader_number(reader, "share", ret->count);
	ret->alone = json_reader_number(reader, "alone", ret->share);
}

static void parse_region_value(
	const struct json_reader *reader, bool bytes, struct record_value *ret)
{
	if (json_reader_has(reader, "absent")) {
		ret->quality = UNCORE_ABSENT;
		ret->why = json_reader_copy_free_text(reader, "absent");
		return;
	}
	ret->count = json_reader_number(reader, bytes ? "bytes" : "value", PARSE_COUNT_MOST);
	ret->quality = parse_quality(reader);
	parse_share(reader, ret);
}

static void parse_values(
	const struct json_reader *socket, const struct record *record, struct record_socket *ret)
{
	const struct json_reader metrics = json_reader_object(socket, "metrics");

	for (uint32_t i = 0; i < record->n_metrics && !json_reader_failed(socket); i++) {
		const struct json_reader value = json_reader_object(&metrics, record->metrics[i]);

		parse_region_value(&value, unit_is_bytes(record->units[i]), &ret->values[i]);
	}
}

/* --- sockets --- */

static void parse_of_job(const struct json_reader *reader, struct record_socket *ret)
{
	ret->n_others = json_reader_number_or(reader, "others", UINT32_MAX, -1);
	ret->early_ns = json_reader_number_or(reader, "early_ns", PARSE_COUNT_MOST, -1);
	ret->late_ns = json_reader_number_or(reader, "late_ns", PARSE_COUNT_MOST, -1);
	ret->age_ns = json_reader_number_or(reader, "age_ns", PARSE_COUNT_MOST, -1);
}

static void parse_socket(
	const struct json_reader *reader, const struct record *record, struct record_socket *ret)
{
	ret->socket = (uint32_t)json_reader_number(reader, "socket", PARSE_SOCKETS_MOST);
	ret->package = json_reader_number_or(reader, "package", UINT32_MAX, -1);
	ret->window_ns = json_reader_number(reader, "window_ns", PARSE_COUNT_MOST);
	ret->skew_ns = json_reader_number(reader, "skew_ns", PARSE_COUNT_MOST);
	ret->quantum_bytes = json_reader_number(reader, "quantum_bytes", PARSE_COUNT_MOST);
	if (record->rows)
		parse_of_job(reader, ret);
	parse_values(reader, record, ret);
}

void parse_region_sockets(const struct json_reader *reader, const char *key,
	const struct record *record, struct record_region *ret)
{
	const struct json_reader list = json_reader_list(reader, key, PARSE_SOCKETS_MOST);

	if (json_reader_failed(&list) || !list.value->n_inside)
		return;
	ret->sockets = json_reader_room(&list, sizeof *ret->sockets);
	JSON_READER_EACH (&list, element) {
		struct record_socket *socket = &ret->sockets[ret->n_sockets++];

		parse_socket(&element, record, socket);
		if (ret->n_sockets > 1 && socket->socket <= socket[-1].socket)
			json_reader_fail(&element, "socket", "is not above the one before");
	}
}

/* --- work --- */

static void parse_work(const struct json_reader *reader, struct record_work ret[RECORD_UNITS_MAX])
{
	const struct json_reader work = json_reader_object(reader, "work");
	const struct json_value *key = NULL;
	const char *unit;
	size_t n = 0;

	while (json_reader_next_key(&work, &key) && n <= RECORD_UNITS_MAX)
		n++;
	if (n > RECORD_UNITS_MAX)
		json_reader_fail(&work, NULL, "has too many units");
	key = NULL;
	for (n = 0; (unit = json_reader_next_key(&work, &key)); n++) {
		if (!*unit || strlen(unit) >= RECORD_UNIT_BYTES || !text_is_plain(unit)) {
			json_reader_fail(&work, NULL, "has a unit that no work has");
			return;
		}
		strcpy(ret[n].unit, unit);
		ret[n].amount = json_reader_real(&work, unit);
		if (isnan(ret[n].amount))
			json_reader_fail(&work, unit, "is not a number of 0 or more");
	}
}

/* --- misses --- */

static void parse_misses(const struct json_reader *reader, struct record_misses *ret)
{
	struct json_reader misses;

	if (!json_reader_has(reader, "misses"))
		return;
	misses = json_reader_object(reader, "misses");
	json_reader_free_text(&misses, "event", JSON_READER_TEXT(ret->event));
	if (json_reader_has(&misses, "absent"))
		ret->absent = json_reader_copy_free_text(&misses, "absent");
	else
		ret->count = json_reader_number(&misses, "count", PARSE_COUNT_MOST);
	if (!*ret->event && !ret->absent)
		json_reader_fail(&misses, "event", "is missing beside a count");
}

/* --- ranks --- */

/* The summary beside it follows from it. */
static void parse_member_ns(
	const struct json_reader *reader, const struct record *record, struct record_region *ret)
{
	struct json_reader list;
	uint32_t n = 0;

	if (!json_reader_has(reader, "member_ns"))
		return;
	list = json_reader_list(reader, "member_ns", record->n_members);
	if (!json_reader_failed(&list) && list.value->n_inside != record->n_members)
		json_reader_fail(reader, "member_ns", "has another length than members");
	ret->member_ns = json_reader_room(&list, sizeof *ret->member_ns);
	JSON_READER_EACH (&list, element)
		ret->member_ns[n++] = json_value_kind(element.value) == JSON_NULL
					      ? RECORD_NOT_KNOWN_NS
					      : json_reader_whole(&element, PARSE_COUNT_MOST);
}

/* --- the region --- */

static void parse_passages(
	const struct json_reader *reader, const struct record *record, struct record_region *ret)
{
	if (json_reader_has(reader, "title"))
		ret->title = json_reader_copy_free_text(reader, "title");
	ret->n_passages = json_reader_number(reader, "count", PARSE_COUNT_MOST);
	ret->n_failed = json_reader_number(reader, "failed", ret->n_passages);
	ret->n_open = json_reader_number(reader, "open", PARSE_COUNT_MOST);
	ret->n_died = json_reader_number(reader, "died", PARSE_COUNT_MOST);
	ret->n_ranks = json_reader_number(reader, "ranks", PARSE_COUNT_MOST);
	ret->time_ns = json_reader_number(reader, "time_ns", PARSE_COUNT_MOST);
	ret->lost_ns = json_reader_number(reader, "lost_ns", PARSE_COUNT_MOST);
	ret->shared_ns = json_reader_number(reader, "shared_ns", PARSE_COUNT_MOST);
	parse_member_ns(reader, record, ret);
	parse_work(reader, ret->work);
	parse_misses(reader, &ret->misses);
}

void parse_region(
	const struct json_reader *reader, const struct record *record, struct record_region *ret)
{
	json_reader_text(reader, "name", JSON_READER_TEXT(ret->name));
	if (!*ret->name)
		json_reader_fail(reader, "name", "is empty");
	if (!record->rows)
		parse_passages(reader, record, ret);
	parse_region_sockets(reader, "sockets", record, ret);
}
