/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides untrusted JSON into values, without a copy of it: a value is a place in the text, which
 * becomes the values' C strings. The values inside an object (key, value, key, value..) or a list
 * follow it in the order of the text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind {
	JSON_MISSING,
	JSON_NULL,
	JSON_OBJECT,
	JSON_LIST,
	JSON_TEXT,
	JSON_FLAG,
	JSON_WHOLE, /* a number without a point and exponent */
	JSON_REAL,
};

struct json_value {
	char *at; /* a text, the digits of a number, or "true"; may have NULs, as a text has escapes
		   */
	enum json_kind kind;
	uint32_t n_values; /* itself and all values inside */
	uint32_t n_inside; /* elements of a list, members of an object, bytes of any other */
};

struct json_text {
	struct json_value *values; /* owned; the first is the whole */
	uint32_t n;
	bool has_no_room; /* there was no memory for the next value */
};

/*
 * 0; -EBADMSG: it is not JSON, is null, or something else follows it; -ENOMEM. *@ret refers to
 * @text, which is changed, and is for json_text_done() in any case.
 */
int json_text_parse(char *text, struct json_text *ret);
void json_text_done(struct json_text *text);

static inline enum json_kind json_value_kind(const struct json_value *value)
{
	return value ? value->kind : JSON_MISSING;
}

/* Skips @value and all inside. */
static inline const struct json_value *json_value_after(const struct json_value *value)
{
	return value + value->n_values;
}

/* Goes through a list, or the keys of an object: @last NULL begins. NULL: there is no further one.
 */
const struct json_value *json_next(const struct json_value *whole, const struct json_value *last);

#define JSON_EACH(whole, name)                                                                     \
	for (const struct json_value *name = json_next(whole, NULL); name;                         \
		name = json_next(whole, name))

/* The member of an object; the last one if several have this key. NULL: there is none. */
const struct json_value *json_value_member(const struct json_value *object, const char *key);

/* Is it this text? */
bool json_value_is(const struct json_value *value, const char *text);
