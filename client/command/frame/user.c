/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/user.h"

#include <errno.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/number.h"

static int user_find(const char *user, uint32_t *ret_uid)
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

bool user_take(const char *title, const char *user, uint32_t *ret_uid)
{
	if (user_find(user, ret_uid) == 0)
		return true;
	fprintf(stderr, "%s: this machine has no user %s.\n", title, user);
	return false;
}

const char *user_name(uint32_t uid)
{
	const struct passwd *entry = getpwuid(uid);

	return entry ? entry->pw_name : "unknown";
}

bool trust_add(struct trust *trust, const char *title, const char *user)
{
	uint32_t uid;

	if (!user_take(title, user, &uid))
		return false;
	if (trust->n == TRUST_USERS_MAX) {
		fprintf(stderr, "%s: --trust names more than %d users.\n", title, TRUST_USERS_MAX);
		return false;
	}
	trust->uids[trust->n++] = uid;
	return true;
}

bool trust_has(const struct trust *trust, uint32_t uid)
{
	for (uint32_t i = 0; i < trust->n; i++)
		if (trust->uids[i] == uid)
			return true;
	return uid == 0 || uid == geteuid();
}
