/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up members of JSON that may come from another release. A member that is missing, or has
 * another type, is empty. All functions accept NULL for @object. Results belong to the object.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

static inline struct json_object *json_member(struct json_object *object, const char *key)
{
	struct json_object *member = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &member);
	return member;
}

static inline bool json_has(struct json_object *object, const char *key)
{
	return json_member(object, key) != NULL;
}

/* The array @key, or NULL. */
static inline struct json_object *json_list(struct json_object *object, const char *key)
{
	struct json_object *member = json_member(object, key);

	return json_object_is_type(member, json_type_array) ? member : NULL;
}

static inline size_t json_length(struct json_object *list)
{
	return list ? json_object_array_length(list) : 0;
}

/* The text of @key, or the digits of a number. */
static inline const char *json_text(struct json_object *object, const char *key, const char *absent)
{
	struct json_object *member = json_member(object, key);

	return member ? json_object_get_string(member) : absent;
}

static inline uint64_t json_number(struct json_object *object, const char *key)
{
	return json_object_get_uint64(json_member(object, key));
}

static inline bool json_flag(struct json_object *object, const char *key)
{
	return json_object_get_boolean(json_member(object, key));
}
