/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/json.h"

#include <string.h>

char *json_text(struct json_object *object)
{
	const char *text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE);

	return text ? strdup(text) : NULL;
}
