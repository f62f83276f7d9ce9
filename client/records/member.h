/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of JSON that somebody else wrote. The first one that is missing or wrong ends the
 * reading: it leaves a sentence, and all later calls give empty results. So a reader checks once,
 * at its end.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMBER_WHERE_MAX = 256, MEMBER_WHY_MAX = 512 };

struct members {
	char where[MEMBER_WHERE_MAX];  /* the path to the present object: "regions[3].", or "" */
	char why[MEMBER_WHY_MAX - 64]; /* "" as long as nothing is wrong */
};

static inline bool members_failed(const struct members *members)
{
	return *members->why;
}

/* Says that member @key, or the object itself if it is NULL, @is_wrong: "is no text". */
void members_fail(struct members *members, const char *key, const char *is_wrong);

/* Enters the object of member @key, or its element @index; returns what members_leave() needs. */
size_t members_enter(struct members *members, const char *key);
size_t members_enter_element(struct members *members, const char *key, size_t index);
void members_leave(struct members *members, size_t entered);

/* NULL, and a failure: it is missing, or has another type. */
struct json_object *members_object(
	struct members *members, struct json_object *object, const char *key);

/* The list @key with its length, at most @most. */
struct json_object *members_list(struct members *members, struct json_object *object,
	const char *key, size_t most, size_t *ret_n);

/* A whole number up to @most. */
uint64_t members_number(
	struct members *members, struct json_object *object, const char *key, uint64_t most);

/* The same, or @absent for null. */
int64_t members_number_or(struct members *members, struct json_object *object, const char *key,
	int64_t most, int64_t absent);

/* 0 or more; NAN for null. */
double members_real(struct members *members, struct json_object *object, const char *key);

bool members_flag(struct members *members, struct json_object *object, const char *key);

/* Room for a text of at most size_bytes - 1 bytes, without control characters. */
struct members_text {
	char *text;
	size_t size_bytes;
};
#define MEMBERS_TEXT(array) ((struct members_text){ (array), sizeof(array) })

void members_text(struct members *members, struct json_object *object, const char *key,
	struct members_text ret);

/*
 * A text for people, which the writer took from outside; "" if the member is missing or null. A
 * control character becomes "?", because it could steer a terminal.
 */
void members_free_text(struct members *members, struct json_object *object, const char *key,
	struct members_text ret);

/* A copy of such a text of any length, for free(3). It must be there. NULL: it failed. */
char *members_copy_free_text(struct members *members, struct json_object *object, const char *key);
