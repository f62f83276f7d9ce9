/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/info/limits.h"

#include <stdio.h>

#include "client/records/json.h"
#include "common/macro.h"

void limits_print(struct json_object *policy)
{
	static const struct {
		const char *key;
		const char *text;
	} lines[] = {
		{ "socket", "where clients connect" },
		{ "mode", "permissions of that socket" },
		{ "group", "only its members may connect" },
		{ "users", "only these users may connect" },
		{ "owner", "uid whose job this node runs, see `uncore owner`" },
		{ "min_interval_ms", "between two sweeps of a socket at least" },
		{ "min_interval_per_user_ms", "... that the reads of one user cause" },
		{ "quantum", "bytes that values are rounded down to" },
		{ "max_clients", "connections at most" },
		{ "max_clients_per_user", "... of one user" },
		{ "requests_per_second", "of one connection, before it must wait" },
		{ "budget_percent", "of one CPU that the sweeps of a socket may take" },
		{ "burst_ms", "of sweep time that may be saved up" },
	};

	if (json_has(policy, "words"))
		printf("  %s\n", json_text(policy, "words", ""));
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (*json_text(policy, lines[i].key, ""))
			printf("  %-24s %-6s %s\n", lines[i].key,
				json_text(policy, lines[i].key, ""), lines[i].text);
}
