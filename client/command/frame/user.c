/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/user.h"

#include <errno.h>
#include <pwd.h>
#include <stddef.h>

#include "client/libuncore/uncore.h"
#include "common/number.h"

int user_find(const char *user, uint32_t *ret_uid)
{
	const struct passwd *entry;
	uint64_t number;

	if (number_parse_whole(user, 10, UNCORE_NO_OWNER - 1, &number)) {
		*ret_uid = (uint32_t)number;
		return 0;
	}
	entry = getpwnam(user);
	if (!entry)
		return -ENOENT;
	*ret_uid = entry->pw_uid;
	return 0;
}

const char *user_name(uint32_t uid)
{
	const struct passwd *entry = getpwuid(uid);

	return entry ? entry->pw_name : "unknown";
}
