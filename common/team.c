/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/team.h"

#include <string.h>

bool team_name_is_valid(const char name[TEAM_NAME_BYTES])
{
	size_t length = strnlen(name, TEAM_NAME_BYTES);

	for (size_t i = 0; i < length; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == ':')
			return false;
	return length && length < TEAM_NAME_BYTES;
}
