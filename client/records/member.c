/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/member.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

void members_fail(struct members *members, const char *key, const char *is_wrong)
{
	size_t n = strlen(members->where);

	if (members_failed(members))
		return;
	if (!key && n > 1) /* without the final point */
		snprintf(members->why, sizeof members->why, "member %.*s %s", (int)n - 1,
			members->where, is_wrong);
	else
		snprintf(members->why, sizeof members->why, "member %s%s %s", members->where,
			key ? key : "", is_wrong);
}

/* --- where --- */

static size_t enter(struct members *members, const char *step)
{
	size_t n = strlen(members->where);

	snprintf(members->where + n, sizeof members->where - n, "%s.", step);
	return n;
}

size_t members_enter(struct members *members, const char *key)
{
	char step[64];

	/* a hostile key may be long, and steer a terminal */
	snprintf(step, sizeof step, "%s", text_is_plain(key) ? key : "?");
	return enter(members, step);
}

size_t members_enter_element(struct members *members, const char *key, size_t index)
{
	char step[64];

	snprintf(step, sizeof step, "%s[%zu]", key, index);
	return enter(members, step);
}

void members_leave(struct members *members, size_t entered)
{
	members->where[entered] = '\0';
}

/* --- values --- */

/* NULL: it is missing, or null. */
static struct json_object *find(
	const struct members *members, struct json_object *object, const char *key)
{
	struct json_object *member = NULL;

	if (!members_failed(members) && json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &member);
	return member;
}

struct json_object *members_object(
	struct members *members, struct json_object *object, const char *key)
{
	struct json_object *member = find(members, object, key);

	if (json_object_is_type(member, json_type_object))
		return member;
	members_fail(members, key, "is no object");
	return NULL;
}

struct json_object *members_list(struct members *members, struct json_object *object,
	const char *key, size_t most, size_t *ret_n)
{
	struct json_object *member = find(members, object, key);
	char is_wrong[64];

	*ret_n = 0;
	if (!json_object_is_type(member, json_type_array)) {
		members_fail(members, key, "is no list");
		return NULL;
	}
	if (json_object_array_length(member) > most) {
		snprintf(is_wrong, sizeof is_wrong, "has more than %zu elements", most);
		members_fail(members, key, is_wrong);
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

static void fail_number(struct members *members, const char *key, uint64_t most)
{
	char is_wrong[64];

	snprintf(is_wrong, sizeof is_wrong, "is no whole number from 0 to %" PRIu64, most);
	members_fail(members, key, is_wrong);
}

uint64_t members_number(
	struct members *members, struct json_object *object, const char *key, uint64_t most)
{
	struct json_object *member = find(members, object, key);

	if (is_number_up_to(member, most))
		return json_object_get_uint64(member);
	fail_number(members, key, most);
	return 0;
}

int64_t members_number_or(struct members *members, struct json_object *object, const char *key,
	int64_t most, int64_t absent)
{
	struct json_object *member = find(members, object, key);

	if (!member)
		return absent;
	if (is_number_up_to(member, (uint64_t)most))
		return json_object_get_int64(member);
	fail_number(members, key, (uint64_t)most);
	return absent;
}

double members_real(struct members *members, struct json_object *object, const char *key)
{
	struct json_object *member = find(members, object, key);
	double number;

	if (!member)
		return NAN;
	number = json_object_get_double(member);
	if ((json_object_is_type(member, json_type_double) ||
		    json_object_is_type(member, json_type_int)) &&
		isfinite(number) && number >= 0)
		return number;
	members_fail(members, key, "is no number of 0 or more");
	return NAN;
}

bool members_flag(struct members *members, struct json_object *object, const char *key)
{
	struct json_object *member = find(members, object, key);

	if (json_object_is_type(member, json_type_boolean))
		return json_object_get_boolean(member);
	members_fail(members, key, "is neither true nor false");
	return false;
}

/* Texts that hold a NUL end there for C; they are refused. */
static const char *text_of(struct members *members, struct json_object *value, const char *key)
{
	const char *text =
		json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;

	if (members_failed(members))
		return NULL;
	if (text && strlen(text) == (size_t)json_object_get_string_len(value))
		return text;
	members_fail(members, key, text ? "has a NUL in it" : "is no text");
	return NULL;
}

static void copy(struct members *members, struct json_object *value, const char *key,
	struct members_text ret)
{
	const char *text = text_of(members, value, key);
	char is_wrong[64];

	*ret.text = '\0';
	if (!text)
		return;
	if (strlen(text) < ret.size_bytes) {
		strcpy(ret.text, text);
		return;
	}
	snprintf(is_wrong, sizeof is_wrong, "has more than %zu bytes", ret.size_bytes - 1);
	members_fail(members, key, is_wrong);
}

void members_text(struct members *members, struct json_object *object, const char *key,
	struct members_text ret)
{
	copy(members, find(members, object, key), key, ret);
	if (!text_is_plain(ret.text))
		members_fail(members, key, "has characters that are no plain text");
	if (members_failed(members))
		*ret.text = '\0';
}

void members_free_text(struct members *members, struct json_object *object, const char *key,
	struct members_text ret)
{
	struct json_object *member = find(members, object, key);

	*ret.text = '\0';
	if (member)
		copy(members, member, key, ret);
	text_make_plain(ret.text);
}

char *members_copy_free_text(struct members *members, struct json_object *object, const char *key)
{
	const char *text = text_of(members, find(members, object, key), key);
	char *copied = text ? strdup(text) : NULL;

	if (copied)
		text_make_plain(copied);
	else
		members_fail(members, key, "is too long for the memory");
	return copied;
}
