/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/json-reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

void json_reader_fail(struct json_reader *reader, const char *key, const char *is_wrong)
{
	size_t n = strlen(reader->where);

	if (json_reader_failed(reader))
		return;
	if (!key && n > 1) /* without the final point */
		snprintf(reader->why, sizeof reader->why, "member %.*s %s", (int)n - 1,
			reader->where, is_wrong);
	else
		snprintf(reader->why, sizeof reader->why, "member %s%s %s", reader->where,
			key ? key : "", is_wrong);
}

/* --- where --- */

static size_t enter(struct json_reader *reader, const char *step)
{
	size_t n = strlen(reader->where);

	snprintf(reader->where + n, sizeof reader->where - n, "%s.", step);
	return n;
}

size_t json_reader_enter(struct json_reader *reader, const char *key)
{
	char step[64];

	/* a hostile key may be long, or control a terminal */
	snprintf(step, sizeof step, "%s", text_is_plain(key) ? key : "?");
	return enter(reader, step);
}

size_t json_reader_enter_element(struct json_reader *reader, const char *key, size_t index)
{
	char step[64];

	snprintf(step, sizeof step, "%s[%zu]", key, index);
	return enter(reader, step);
}

void json_reader_leave(struct json_reader *reader, size_t entered)
{
	reader->where[entered] = '\0';
}

/* --- values --- */

/* The member @key; NULL: it is missing, or null. */
static struct json_object *find(
	const struct json_reader *reader, struct json_object *object, const char *key)
{
	struct json_object *member = NULL;

	if (!json_reader_failed(reader) && json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &member);
	return member;
}

struct json_object *json_reader_object(
	struct json_reader *reader, struct json_object *object, const char *key)
{
	struct json_object *member = find(reader, object, key);

	if (json_object_is_type(member, json_type_object))
		return member;
	json_reader_fail(reader, key, "is not an object");
	return NULL;
}

struct json_object *json_reader_list(struct json_reader *reader, struct json_object *object,
	const char *key, size_t most, size_t *ret_n)
{
	struct json_object *member = find(reader, object, key);
	char is_wrong[64];

	*ret_n = 0;
	if (!json_object_is_type(member, json_type_array)) {
		json_reader_fail(reader, key, "is not a list");
		return NULL;
	}
	if (json_object_array_length(member) > most) {
		snprintf(is_wrong, sizeof is_wrong, "has more than %zu elements", most);
		json_reader_fail(reader, key, is_wrong);
		return NULL;
	}
	*ret_n = json_object_array_length(member);
	return member;
}

static bool is_number_up_to(struct json_object *member, uint64_t most)
{
	return json_object_is_type(member, json_type_int) && json_object_get_int64(member) >= 0 &&
	       json_object_get_uint64(member) <= most;
}

static void fail_number(struct json_reader *reader, const char *key, uint64_t most)
{
	char is_wrong[64];

	snprintf(is_wrong, sizeof is_wrong, "is not a whole number from 0 to %" PRIu64, most);
	json_reader_fail(reader, key, is_wrong);
}

uint64_t json_reader_number(
	struct json_reader *reader, struct json_object *object, const char *key, uint64_t most)
{
	struct json_object *member = find(reader, object, key);

	if (is_number_up_to(member, most))
		return json_object_get_uint64(member);
	fail_number(reader, key, most);
	return 0;
}

int64_t json_reader_number_or(struct json_reader *reader, struct json_object *object,
	const char *key, int64_t most, int64_t absent)
{
	struct json_object *member = find(reader, object, key);

	if (!member)
		return absent;
	if (is_number_up_to(member, (uint64_t)most))
		return json_object_get_int64(member);
	fail_number(reader, key, (uint64_t)most);
	return absent;
}

double json_reader_real(struct json_reader *reader, struct json_object *object, const char *key)
{
	struct json_object *member = find(reader, object, key);
	double number;

	if (!member)
		return NAN;
	number = json_object_get_double(member);
	if ((json_object_is_type(member, json_type_double) ||
		    json_object_is_type(member, json_type_int)) &&
		isfinite(number) && number >= 0)
		return number;
	json_reader_fail(reader, key, "is not a number of 0 or more");
	return NAN;
}

bool json_reader_flag(struct json_reader *reader, struct json_object *object, const char *key)
{
	struct json_object *member = find(reader, object, key);

	if (json_object_is_type(member, json_type_boolean))
		return json_object_get_boolean(member);
	json_reader_fail(reader, key, "is neither true nor false");
	return false;
}

/* Refuses texts with a NUL, because C would end them there. */
static const char *text_of(struct json_reader *reader, struct json_object *value, const char *key)
{
	const char *text =
		json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;

	if (json_reader_failed(reader))
		return NULL;
	if (text && strlen(text) == (size_t)json_object_get_string_len(value))
		return text;
	json_reader_fail(reader, key, text ? "has a NUL in it" : "is not a text");
	return NULL;
}

static void copy(struct json_reader *reader, struct json_object *value, const char *key,
	struct json_reader_text ret)
{
	const char *text = text_of(reader, value, key);
	char is_wrong[64];

	*ret.text = '\0';
	if (!text)
		return;
	if (strlen(text) < ret.size_bytes) {
		strcpy(ret.text, text);
		return;
	}
	snprintf(is_wrong, sizeof is_wrong, "has more than %zu bytes", ret.size_bytes - 1);
	json_reader_fail(reader, key, is_wrong);
}

void json_reader_text(struct json_reader *reader, struct json_object *object, const char *key,
	struct json_reader_text ret)
{
	copy(reader, find(reader, object, key), key, ret);
	if (!text_is_plain(ret.text))
		json_reader_fail(reader, key, "has characters that are not plain text");
	if (json_reader_failed(reader))
		*ret.text = '\0';
}

void json_reader_free_text(struct json_reader *reader, struct json_object *object, const char *key,
	struct json_reader_text ret)
{
	struct json_object *member = find(reader, object, key);

	*ret.text = '\0';
	if (member)
		copy(reader, member, key, ret);
	text_make_plain(ret.text);
}

char *json_reader_copy_free_text(
	struct json_reader *reader, struct json_object *object, const char *key)
{
	const char *text = text_of(reader, find(reader, object, key), key);
	char *copied = text ? strdup(text) : NULL;

	if (copied)
		text_make_plain(copied);
	else
		json_reader_fail(reader, key, "is too long for the memory");
	return copied;
}
