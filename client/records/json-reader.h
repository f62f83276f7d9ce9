/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads members of untrusted JSON. A reader stands at an object or list; readers of its members
 * refer to it. The first member that is missing or wrong ends the reading: it sets the sentence,
 * and all later calls return empty results. So a caller checks once, at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/records/json.h"
#include "common/macro.h"

enum { JSON_READER_WHY_MAX = 512 };

struct json_failure {
	char why[JSON_READER_WHY_MAX - 64]; /* "" as long as nothing is wrong */
};

struct json_reader {
	struct json_failure *failure; /* of the whole document */
	const struct json_value *value;
	const struct json_reader *above; /* NULL: the whole document */
	const char *key;                 /* NULL: element .index of a list */
	size_t index;
};

static inline bool json_reader_failed(const struct json_reader *reader)
{
	return *reader->failure->why;
}

/* Notes that member @key "is not a text". @key NULL: the object itself. */
_printf_(3, 4) void json_reader_fail(
	const struct json_reader *reader, const char *key, const char *is_wrong, ...);

/* Of a member. A value that is not an object has none. */
enum json_kind json_reader_kind(const struct json_reader *reader, const char *key);

static inline bool json_reader_has(const struct json_reader *reader, const char *key)
{
	return json_reader_kind(reader, key) != JSON_MISSING;
}

/* Empty, and a failure: the member is missing, or has another type. */
struct json_reader json_reader_object(const struct json_reader *reader, const char *key);

/* A list of at most @most elements. */
struct json_reader json_reader_list(const struct json_reader *reader, const char *key, size_t most);

/* Moves @ret on to the next element, from {0} to the first. False: there is none, or it failed. */
bool json_reader_next(const struct json_reader *list, struct json_reader *ret);

#define JSON_READER_EACH(list, element)                                                            \
	for (struct json_reader element = { .value = NULL }; json_reader_next(list, &element);)

/* Moves @last on to the next key, from NULL to the first, and returns it. A key that is there twice
 * comes once. NULL: there is none, or it failed. */
const char *json_reader_next_key(const struct json_reader *object, const struct json_value **last);

/* Room for @element_bytes for each element of @list, for free(3). NULL: it failed. */
void *json_reader_room(const struct json_reader *list, size_t element_bytes);

/* A whole number up to @most: a member, or an element of a list. */
uint64_t json_reader_number(const struct json_reader *reader, const char *key, uint64_t most);
uint64_t json_reader_whole(const struct json_reader *element, uint64_t most);

/* A whole number up to @most, or @absent for null. */
int64_t json_reader_number_or(
	const struct json_reader *reader, const char *key, int64_t most, int64_t absent);

/* 0 or more; NAN for null. */
double json_reader_real(const struct json_reader *reader, const char *key);

bool json_reader_flag(const struct json_reader *reader, const char *key);

/* Room for a text without control characters, of at most size_bytes - 1 bytes. */
struct json_reader_text {
	char *text;
	size_t size_bytes;
};
#define JSON_READER_TEXT(array) ((struct json_reader_text){ (array), sizeof(array) })

void json_reader_text(
	const struct json_reader *reader, const char *key, struct json_reader_text ret);

/*
 * Reads free text that the writer took from outside; "" if the member is missing or null. Control
 * characters become "?", because they could control a terminal.
 */
void json_reader_free_text(
	const struct json_reader *reader, const char *key, struct json_reader_text ret);

/* Copies free text of any length, for free(3). The member must exist. NULL: it failed. */
char *json_reader_copy_free_text(const struct json_reader *reader, const char *key);
