/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads members of untrusted JSON. The first member that is missing or wrong ends the reading: it
 * sets the sentence, and all later calls return empty results. So a caller checks once, at the end.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_READER_WHERE_MAX = 256, JSON_READER_WHY_MAX = 512 };

struct json_reader {
	char where[JSON_READER_WHERE_MAX];  /* the path to the present object: "regions[3].", or ""
					     */
	char why[JSON_READER_WHY_MAX - 64]; /* "" as long as nothing is wrong */
};

static inline bool json_reader_failed(const struct json_reader *reader)
{
	return *reader->why;
}

/* Notes that member @key @is_wrong: "is not a text". @key NULL: the object itself. */
void json_reader_fail(struct json_reader *reader, const char *key, const char *is_wrong);

/* Enters the object of member @key, or its element @index; returns what json_reader_leave() needs.
 */
size_t json_reader_enter(struct json_reader *reader, const char *key);
size_t json_reader_enter_element(struct json_reader *reader, const char *key, size_t index);
void json_reader_leave(struct json_reader *reader, size_t entered);

/* NULL, and a failure: the member is missing, or has another type. */
struct json_object *json_reader_object(
	struct json_reader *reader, struct json_object *object, const char *key);

/* The list @key with its length, at most @most. */
struct json_object *json_reader_list(struct json_reader *reader, struct json_object *object,
	const char *key, size_t most, size_t *ret_n);

/* A whole number up to @most. */
uint64_t json_reader_number(
	struct json_reader *reader, struct json_object *object, const char *key, uint64_t most);

/* The same, or @absent for null. */
int64_t json_reader_number_or(struct json_reader *reader, struct json_object *object,
	const char *key, int64_t most, int64_t absent);

/* 0 or more; NAN for null. */
double json_reader_real(struct json_reader *reader, struct json_object *object, const char *key);

bool json_reader_flag(struct json_reader *reader, struct json_object *object, const char *key);

/* Room for a text without control characters, of at most size_bytes - 1 bytes. */
struct json_reader_text {
	char *text;
	size_t size_bytes;
};
#define JSON_READER_TEXT(array) ((struct json_reader_text){ (array), sizeof(array) })

void json_reader_text(struct json_reader *reader, struct json_object *object, const char *key,
	struct json_reader_text ret);

/*
 * Reads free text that the writer took from outside; "" if the member is missing or null. Control
 * characters become "?", because they could control a terminal.
 */
void json_reader_free_text(struct json_reader *reader, struct json_object *object, const char *key,
	struct json_reader_text ret);

/* Copies free text of any length, for free(3). The member must exist. NULL: it failed. */
char *json_reader_copy_free_text(
	struct json_reader *reader, struct json_object *object, const char *key);
