/* SPDX-License-Identifier: BSD-3-Clause */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "client/command/info/quality.h"
#include "client/records/json.h"
#include "client/report/format.h"

size_t quality_format(struct json_object *state, char *buffer, size_t size_bytes)
{
	struct json_object *words = json_list(state, "quality");
	size_t used = 0;

	snprintf(buffer, size_bytes, "good");
	for (size_t i = 0; i < json_length(words) && used < size_bytes; i++)
		used += (size_t)snprintf(buffer + used, size_bytes - used, "%s%s", i ? ", " : "",
			json_object_get_string(json_object_array_get_idx(words, i)));
	used = strlen(buffer);
	if (json_has(state, "why"))
		snprintf(buffer + used, size_bytes - used, " (%s)", json_text(state, "why", ""));
	return strlen(buffer);
}

void quality_print_warnings(struct json_object *info)
{
	const char *platform = json_text(info, "platform", "");

	if (format_warning(platform))
		format_warnings(stdout, platform);
	else if (json_flag(info, "standin"))
		printf(" STAND-IN: nothing here is memory traffic.\n");
}
