/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up members of JSON that may come from another release. A member that is missing, null, or
 * of another type, is empty. All functions accept NULL. Results belong to the document.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client/records/json-text.h"

struct jsonwriter;

struct json_document {
	char *text; /* owned */
	struct json_text json;
};

/* Takes over @text. NULL: it is not JSON, or there is no memory; json_document_done() frees it. */
const struct json_value *json_document_take(struct json_document *ret, char *text);
void json_document_done(struct json_document *document);

/* NULL, too: it is null. */
static inline const struct json_value *json_member(const struct json_value *object, const char *key)
{
	const struct json_value *member = json_value_member(object, key);

	return json_value_kind(member) == JSON_NULL ? NULL : member;
}

static inline bool json_has(const struct json_value *object, const char *key)
{
	return json_member(object, key) != NULL;
}

static inline const struct json_value *json_list(const struct json_value *object, const char *key)
{
	const struct json_value *member = json_member(object, key);

	return json_value_kind(member) == JSON_LIST ? member : NULL;
}

static inline size_t json_length(const struct json_value *list)
{
	return list ? list->n_inside : 0;
}

/* A text, the digits of a number, or "true". */
static inline const char *json_scalar(const struct json_value *value, const char *absent)
{
	return json_value_kind(value) >= JSON_TEXT ? value->at : absent;
}

static inline const char *json_text(
	const struct json_value *object, const char *key, const char *absent)
{
	return json_scalar(json_member(object, key), absent);
}

static inline uint64_t json_count(const struct json_value *value)
{
	uint64_t count = 0;

	if (json_value_kind(value) != JSON_WHOLE || *value->at == '-')
		return 0;
	if (value->n_inside >= 19)
		return strtoull(value->at, NULL, 10);
	for (uint32_t i = 0; i < value->n_inside; i++)
		count = 10 * count + (uint64_t)(value->at[i] - '0');
	return count;
}

static inline uint64_t json_number(const struct json_value *object, const char *key)
{
	return json_count(json_member(object, key));
}

static inline double json_double(const struct json_value *value)
{
	return json_value_kind(value) >= JSON_WHOLE ? strtod(value->at, NULL) : 0;
}

static inline double json_real(const struct json_value *object, const char *key)
{
	return json_double(json_member(object, key));
}

static inline bool json_flag(const struct json_value *object, const char *key)
{
	return *json_text(object, key, "") == 't';
}

/* The length of the longest text of @key in a list of objects; @least if none is longer. */
int json_width(const struct json_value *list, const char *key, int least);

/* Also if their members are in another order. */
bool json_is_equal(const struct json_value *a, const struct json_value *b);

/* Writes a value. @add, which may be NULL, may add members to each object. */
void json_copy(struct jsonwriter *json, const char *key, const struct json_value *value,
	void (*add)(struct jsonwriter *json, const struct json_value *object));
