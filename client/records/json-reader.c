/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/json-reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

enum { PATH_MAX_BYTES = 256 };

/* Adds "regions[3].sockets". */
static void add_path(const struct json_reader *reader, char path[PATH_MAX_BYTES])
{
	size_t n;

	if (!reader->above)
		return;
	add_path(reader->above, path);
	n = strlen(path);
	if (!reader->key)
		snprintf(path + n, PATH_MAX_BYTES - n, "[%zu]", reader->index);
	else /* a hostile key may be long, or control a terminal */
		snprintf(path + n, PATH_MAX_BYTES - n, "%s%.63s", n ? "." : "",
			text_is_plain(reader->key) ? reader->key : "?");
}

void json_reader_fail(const struct json_reader *reader, const char *key, const char *is_wrong, ...)
{
	const struct json_reader member = { .above = reader, .key = key };
	struct json_failure *failure = reader->failure;
	char path[PATH_MAX_BYTES] = "";
	va_list arguments;
	size_t n;

	if (json_reader_failed(reader))
		return;
	add_path(key ? &member : reader, path);
	n = (size_t)snprintf(failure->why, sizeof failure->why, "member %s ", path);
	va_start(arguments, is_wrong);
	vsnprintf(failure->why + n, sizeof failure->why - n, is_wrong, arguments);
	va_end(arguments);
}

/* --- objects and lists --- */

enum json_kind json_reader_kind(const struct json_reader *reader, const char *key)
{
	return json_value_kind(json_value_member(reader->value, key));
}

/* The member @key; NULL: it is missing, or null. */
static const struct json_value *json_reader_find(const struct json_reader *reader, const char *key)
{
	return json_reader_failed(reader) ? NULL : json_member(reader->value, key);
}

static struct json_reader json_reader_enter(const struct json_reader *reader, const char *key,
	enum json_kind kind, const char *is_wrong)
{
	struct json_reader member = { reader->failure, json_reader_find(reader, key), reader, key,
		0 };

	if (json_value_kind(member.value) != kind) {
		member.value = NULL;
		json_reader_fail(reader, key, "%s", is_wrong);
	}
	return member;
}

struct json_reader json_reader_object(const struct json_reader *reader, const char *key)
{
	return json_reader_enter(reader, key, JSON_OBJECT, "is not an object");
}

struct json_reader json_reader_list(const struct json_reader *reader, const char *key, size_t most)
{
	const struct json_reader list = json_reader_enter(reader, key, JSON_LIST, "is not a list");

	if (list.value && list.value->n_inside > most)
		json_reader_fail(reader, key, "has more than %zu elements", most);
	return list;
}

/* As json_next(); NULL, too: the reading failed. */
static const struct json_value *json_reader_after(
	const struct json_reader *whole, const struct json_value *last)
{
	return json_reader_failed(whole) ? NULL : json_next(whole->value, last);
}

bool json_reader_next(const struct json_reader *list, struct json_reader *ret)
{
	const size_t index = ret->value ? ret->index + 1 : 0;
	const struct json_value *next = json_reader_after(list, ret->value);

	*ret = (struct json_reader){ list->failure, next, list, NULL, index };
	return next;
}

static bool key_was_there(const struct json_reader *object, const struct json_value *key)
{
	const struct json_value *at = object->value + 1;

	while (at < key && !json_value_is(at, key->at))
		at = json_value_after(at + 1);
	return at < key;
}

const char *json_reader_next_key(const struct json_reader *object, const struct json_value **last)
{
	do
		*last = json_reader_after(object, *last);
	while (*last && key_was_there(object, *last));
	return *last ? (*last)->at : NULL;
}

void *json_reader_room(const struct json_reader *list, size_t element_bytes)
{
	const size_t n = json_reader_failed(list) ? 0 : list->value->n_inside;
	void *room = calloc(n ? n : 1, element_bytes);

	if (!room)
		json_reader_fail(list, NULL, "is too long for the memory");
	return room;
}

/* --- values --- */

/* UINT64_MAX: it is negative, or larger than that. -0 is neither. */
static uint64_t json_reader_number_of(const struct json_value *value)
{
	return *value->at == '-' && json_double(value) < 0 ? UINT64_MAX : json_count(value);
}

/* @most is at most INT64_MAX. */
static uint64_t json_reader_take_number(const struct json_reader *reader, const char *key,
	const struct json_value *value, uint64_t most)
{
	const uint64_t number =
		json_value_kind(value) == JSON_WHOLE ? json_reader_number_of(value) : UINT64_MAX;

	if (number <= most)
		return number;
	json_reader_fail(reader, key, "is not a whole number from 0 to %" PRIu64, most);
	return 0;
}

uint64_t json_reader_number(const struct json_reader *reader, const char *key, uint64_t most)
{
	return json_reader_take_number(reader, key, json_reader_find(reader, key), most);
}

uint64_t json_reader_whole(const struct json_reader *element, uint64_t most)
{
	return json_reader_take_number(element, NULL, element->value, most);
}

int64_t json_reader_number_or(
	const struct json_reader *reader, const char *key, int64_t most, int64_t absent)
{
	const struct json_value *member = json_reader_find(reader, key);

	if (!member)
		return absent;
	return (int64_t)json_reader_take_number(reader, key, member, (uint64_t)most);
}

double json_reader_real(const struct json_reader *reader, const char *key)
{
	const struct json_value *member = json_reader_find(reader, key);
	const double number = json_value_kind(member) >= JSON_WHOLE ? json_double(member) : NAN;

	if (!member || (isfinite(number) && number >= 0))
		return number;
	json_reader_fail(reader, key, "is not a number of 0 or more");
	return NAN;
}

bool json_reader_flag(const struct json_reader *reader, const char *key)
{
	const struct json_value *member = json_reader_find(reader, key);

	if (json_value_kind(member) == JSON_FLAG)
		return *member->at == 't';
	json_reader_fail(reader, key, "is neither true nor false");
	return false;
}

/* Refuses texts with a NUL, because C would end them there. */
static void json_reader_copy(const struct json_reader *reader, const char *key,
	const struct json_value *value, struct json_reader_text ret)
{
	*ret.text = '\0';
	if (json_value_kind(value) != JSON_TEXT)
		json_reader_fail(reader, key, "is not a text");
	else if (strlen(value->at) < value->n_inside)
		json_reader_fail(reader, key, "has a NUL in it");
	else if (value->n_inside >= ret.size_bytes)
		json_reader_fail(reader, key, "has more than %zu bytes", ret.size_bytes - 1);
	else
		strcpy(ret.text, value->at);
}

void json_reader_text(
	const struct json_reader *reader, const char *key, struct json_reader_text ret)
{
	json_reader_copy(reader, key, json_reader_find(reader, key), ret);
	if (text_is_plain(ret.text))
		return;
	json_reader_fail(reader, key, "has characters that are not plain text");
	*ret.text = '\0';
}

void json_reader_free_text(
	const struct json_reader *reader, const char *key, struct json_reader_text ret)
{
	const struct json_value *member = json_reader_find(reader, key);

	*ret.text = '\0';
	if (member)
		json_reader_copy(reader, key, member, ret);
	text_make_plain(ret.text);
}

char *json_reader_copy_free_text(const struct json_reader *reader, const char *key)
{
	const struct json_value *value = json_reader_find(reader, key);
	const size_t n = json_value_kind(value) == JSON_TEXT ? value->n_inside : 0;
	char *copied = calloc(n + 1, 1);

	if (copied) {
		json_reader_copy(reader, key, value, (struct json_reader_text){ copied, n + 1 });
		text_make_plain(copied);
	} else {
		json_reader_fail(reader, key, "is too long for the memory");
	}
	return copied;
}
