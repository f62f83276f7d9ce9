/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/unit.h"

#include <stddef.h>
#include <string.h>

#include "common/macro.h"

static const struct unit units[] = {
	{ UNIT_BYTES, true },
	{ "ns", false },
	{ "nJ", false },
	{ "count", false },
};

const char unit_names[] = UNIT_BYTES "|ns|nJ|count";

const struct unit *unit_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}
