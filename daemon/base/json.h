/* SPDX-License-Identifier: BSD-3-Clause */
/* Short names for json-c, with which uncored writes. An added value becomes its object's. */
#pragma once

#include <json-c/json.h>
#include <stdint.h>

static inline void json_put(struct json_object **object)
{
	json_object_put(*object);
}

#define _cleanup_json_ _cleanup_(json_put)

static inline void json_add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

static inline void json_add_string(struct json_object *to, const char *key, const char *value)
{
	json_add(to, key, json_object_new_string(value));
}

static inline void json_add_number(struct json_object *to, const char *key, uint64_t value)
{
	json_add(to, key, json_object_new_uint64(value));
}

static inline void json_add_bool(struct json_object *to, const char *key, int value)
{
	json_add(to, key, json_object_new_boolean(value));
}

/* On one line, for free(3); NULL: out of memory. */
char *json_text(struct json_object *object);
